// Charts of a few hundred marks, as SVG: bars, lines with bands, points with intervals.

function plot(parent, height, draw) {
  const holder = make("div", { class: "plot" });
  parent.append(holder);
  redrawn(holder, (width) => holder.replaceChildren(draw(width, height)));
  return holder;
}

// Bars between edges; `marks` are vertical lines with names.
function histogram(parent, { edges, heights, marks = [], x, y, label, text }) {
  plot(parent, 250, (width, height) => {
    const top = Math.max(1, ...heights) * 1.08;
    const low = Math.min(edges[0], ...marks.map((m) => m.at)), high = Math.max(edges[edges.length - 1], ...marks.map((m) => m.at));
    const ends = x.log ? [low / 1.04, high * 1.04] : [low, high];
    const drawn = frame(width, height, { ...x, low: ends[0], high: ends[1] }, { ...y, low: 0, high: top }, { label });
    heights.forEach((value, i) => {
      if (!value) return;
      const left = drawn.xs(edges[i]), right = drawn.xs(edges[i + 1]);
      drawn.front.append(make("rect", {
        x: left + 0.5, width: Math.max(1, right - left - 1), y: drawn.ys(value), height: drawn.foot - drawn.ys(value),
        fill: slot(0), rx: 1.5, onmousemove: (event) => tell(event, ...text(i)), onmouseleave: untell,
      }));
    });
    marks.forEach((mark, i) => markAt(drawn, mark.at, mark.name, width, i));
    return drawn.svg;
  });
}

// Lines over a common x axis; a series is {name, points: [{x, y, low, high, lines}], band}.
function lines(parent, { series, x, y, marks = [], diagonal = false, label, height = 280, dots = false }) {
  plot(parent, height, (width, tall) => {
    const drawn = frame(width, tall, x, y, { label });
    const { front, xs, ys } = drawn;
    const fit = (value) => Math.max(Math.min(value, y.high), y.low);
    if (diagonal) front.append(make("line", { class: "marker", x1: xs(x.low), y1: ys(x.low), x2: xs(x.high), y2: ys(x.high) }));
    series.forEach((one, i) => {
      const banded = one.points.filter((p) => p.low !== null && p.low !== undefined);
      if (one.band && banded.length > 1) {
        const upper = banded.map((p) => `${xs(p.x)},${ys(fit(p.high))}`), lower = banded.map((p) => `${xs(p.x)},${ys(fit(p.low))}`);
        front.append(make("polygon", { points: [...upper, ...lower.reverse()].join(" "), fill: slot(one.slot ?? i), opacity: 0.14 }));
      }
    });
    series.forEach((one, i) => {
      const k = one.slot ?? i, points = one.points.filter((p) => p.y !== null);
      front.append(make("path", {
        d: points.map((p, j) => `${j ? "L" : "M"}${xs(p.x)},${ys(fit(p.y))}`).join(""), fill: "none", stroke: slot(k),
        "stroke-width": 2.2, "stroke-dasharray": DASHES[k % DASHES.length] || null, "stroke-linejoin": "round",
      }));
      if (dots) for (const p of points) front.append(dot(xs(p.x), ys(fit(p.y)), k));
    });
    marks.forEach((mark, i) => markAt(drawn, mark.at, mark.name, width, i));
    drawn.svg.append(nearest(drawn, width, tall, series, fit));
    return drawn.svg;
  });
  if (series.length > 1) parent.append(legend(series.map((one, i) => [one.name, one.slot ?? i])));
}

// A surface over a line chart that tells of the point nearest to the pointer.
function nearest(drawn, width, height, series, fit) {
  const all = series.flatMap((one, i) => one.points.filter((p) => p.y !== null).map((p) => ({ ...p, name: one.name, slot: one.slot ?? i })));
  const ring = make("circle", { r: 5.5, fill: "none", stroke: "var(--ink)", "stroke-width": 1.6, visibility: "hidden" });
  drawn.front.append(ring);
  return make("rect", {
    width, height, fill: "transparent",
    onmousemove: (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      const far = (p) => Math.hypot(drawn.xs(p.x) - px, drawn.ys(fit(p.y)) - py);
      const best = all.reduce((a, p) => (a && far(a) <= far(p) ? a : p), null);
      if (!best) return;
      ring.setAttribute("cx", drawn.xs(best.x)); ring.setAttribute("cy", drawn.ys(fit(best.y)));
      ring.setAttribute("visibility", "visible");
      tell(event, best.name, ...(best.lines ?? [number(best.y)]));
    },
    onmouseleave: () => { ring.setAttribute("visibility", "hidden"); untell(); },
  });
}

// A mark whose shape says the series as well as its colour does.
function dot(x, y, k) {
  const fill = slot(k), r = 4;
  const polygon = (...points) => make("polygon", { points: points.map(([a, b]) => `${x + a * r},${y + b * r}`).join(" "), fill });
  return [
    () => make("circle", { cx: x, cy: y, r, fill }),
    () => make("rect", { x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8, fill }),
    () => polygon([0, -1.2], [1.1, 0.8], [-1.1, 0.8]),
    () => polygon([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]),
    () => polygon([0, 1.2], [1.1, -0.8], [-1.1, -0.8]),
    () => polygon([-1.1, -0.4], [-0.4, -1.1], [0.4, -1.1], [1.1, -0.4], [1.1, 0.4], [0.4, 1.1], [-0.4, 1.1], [-1.1, 0.4]),
  ][k % 6]();
}

function legend(entries) {
  return make("ul", { class: "legend" }, ...entries.map(([name, k]) => make("li", {},
    make("svg", { width: 30, height: 12, "aria-hidden": "true" },
      make("line", { x1: 0, x2: 30, y1: 6, y2: 6, stroke: slot(k), "stroke-width": 2.4, "stroke-dasharray": DASHES[k % DASHES.length] || null }),
      dot(15, 6, k)), name)));
}

function swatches(entries) {
  return make("ul", { class: "legend" }, ...entries.map(([name, fill]) => make("li", {},
    make("svg", { width: 12, height: 12, "aria-hidden": "true" }, make("rect", { width: 12, height: 12, rx: 3, fill })), name)));
}

// Stacked bars, one a group: parts are [{name, values}].
function stacked(parent, { names, parts, x, y, text, label }) {
  plot(parent, 280, (width, height) => {
    const sums = names.map((_, i) => parts.reduce((sum, part) => sum + part.values[i], 0));
    const at = names.map((_, i) => i + 0.5);
    const every = Math.ceil(names.length / Math.max(1, Math.floor((width - 70) / 76)));
    const kept = at.filter((_, i) => i % every === 0), shown = names.filter((_, i) => i % every === 0);
    const drawn = frame(width, height, { ...x, low: 0, high: names.length, ticks: kept, names: shown },
      { ...y, low: 0, high: Math.max(...sums) * 1.06 || 1 }, { label });
    names.forEach((_, i) => {
      let base = 0;
      parts.forEach((part, k) => {
        const top = drawn.ys(base + part.values[i]), foot = drawn.ys(base);
        base += part.values[i];
        drawn.front.append(make("rect", {
          x: drawn.xs(i + 0.14), width: drawn.xs(i + 0.86) - drawn.xs(i + 0.14), y: top, height: Math.max(0, foot - top), fill: slot(k),
          onmousemove: (event) => tell(event, ...text(i)), onmouseleave: untell,
        }));
      });
    });
    return drawn.svg;
  });
  parent.append(swatches(parts.map((part, k) => [part.name, slot(k)])));
}

// Rows of a value with its interval: {name, value, low, high, lines, slot}.
function intervals(parent, { rows, x, label, zero = null }) {
  const size = 26;
  plot(parent, rows.length * size + 74, (width, height) => {
    const left = Math.min(width * 0.52, 14 + 7.2 * Math.max(...rows.map((row) => row.name.length)));
    const drawn = frame(width, height, x, { low: 0, high: rows.length, ticks: [], name: "" }, { label, margin: { left, top: 28 } });
    if (zero) markAt(drawn, zero.at, zero.name, width, -1);
    rows.forEach((row, i) => {
      const y = drawn.ys(rows.length - i - 0.5), clip = (v) => drawn.xs(Math.max(x.low, Math.min(x.high, v)));
      const told = { onmousemove: (event) => tell(event, row.name, ...row.lines), onmouseleave: untell };
      const longest = Math.floor((left - 12) / 6.6);
      const name = row.name.length > longest ? `${row.name.slice(0, longest - 1)}…` : row.name;
      drawn.front.append(make("text", { class: "name", x: left - 8, y: y + 4, "text-anchor": "end" }, name, make("title", {}, row.name)));
      if (row.value === null) return;
      if (row.low !== null) drawn.front.append(make("line", { x1: clip(row.low), x2: clip(row.high), y1: y, y2: y, stroke: slot(row.slot), "stroke-width": 2.4 }));
      drawn.front.append(dot(clip(row.value), y, row.slot), make("rect", { x: left, y: y - size / 2, width: width - left, height: size, fill: "transparent", ...told }));
    });
    return drawn.svg;
  });
}
