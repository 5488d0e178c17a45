// One user's page: what she is served from, who lends and why, how own and pooled estimates differ.

const SHOWN = 12;

function personPage(page, users, map, parent, i) {
  const { m, a } = users, id = users.ids[i], trace = users.trace(i);
  const body = make("figure", { class: "card wide", id: "user-card" }, make("h3", {}, `User ${id}`));
  const share = users.ownShare(i), pooled = users.pooledUsers(i);
  body.append(make("p", {}, pooled > 1
    ? `Served from ${plural(users.pooledCount(i), "row")} of ${plural(pooled, "user")}; ${percent(share)} of them are own rows.`
    : `Served from own data alone: ${plural(a.count[i], "row")}.`));
  const facts = [["rows of own data", number(a.count[i])], ["users served from", number(pooled)], ["rows served from", number(users.pooledCount(i))],
    ["radius of the own estimate", number(a.radius[i])], ["cluster on the map", a.cluster[i] === 255 ? "none" : String(a.cluster[i] + 1)]];
  if (a.limit) facts.splice(4, 0, ["gap", number(a.limit[i])]);
  body.append(make("div", { class: "facts" }, ...facts.map(([name, value]) => make("div", {}, make("b", {}, value), make("span", {}, name)))));
  const left = make("div", {}), right = make("div", {});
  if (trace?.distance) body.append(make("div", { class: "split" }, left, right));
  if (trace?.distance) lenderTables(users, i, trace, left, right);
  else if (trace?.chance) sharerTable(users, i, trace, body);
  else body.append(make("p", {}, whyNoTable(users, i, trace)));
  estimateChart(users, i, body);
  heldOut(page, id, body);
  const close = make("button", { type: "button", onclick: () => { parent.hidden = true; map.highlight(null); } }, "Close");
  const show = make("button", { type: "button", onclick: () => map.holder.scrollIntoView({ block: "center" }) }, "Show on the map");
  body.append(make("div", { class: "bar" }, show, close));
  parent.replaceChildren(body);
  parent.hidden = false;
  map.highlight(i, trace?.lends ?? new Uint8Array(users.n));
  parent.scrollIntoView({ block: "nearest" });
}

// Lenders by their share of the rows, and the nearest of those left out.
function lenderTables(users, i, { lends, distance, threshold }, left, right) {
  const all = Array.from({ length: users.n }, (_, v) => v), { a } = users, blur = users.blur();
  const inside = all.filter((v) => lends[v] && v !== i).sort((p, q) => a.count[q] - a.count[p]);
  const outside = all.filter((v) => !lends[v]).sort((p, q) => distance[p] - distance[q]);
  const link = (v) => make("button", { type: "button", onclick: () => users.choose(v) }, String(users.ids[v]));
  const edge = (v) => (Math.abs(distance[v] - threshold[v]) <= blur ? "≈\u2009" : "");
  const row = (v) => [link(v), a.count[v], distance[v], edge(v) + (Number.isFinite(threshold[v]) ? number(threshold[v]) : "never")];
  const heads = ["user", "rows", "distance", "threshold"];
  const part = (title, some) => [make("h4", {}, title), some.length ? table(heads, some.slice(0, SHOWN).map(row)) : make("p", {}, "Nobody.")];
  left.append(...part(`Lends most (${Math.min(SHOWN, inside.length)} of ${number(inside.length)} others)`, inside));
  right.append(...part(`Nearest of those left out (${Math.min(SHOWN, outside.length)} of ${number(outside.length)})`, outside));
  const marked = [...inside.slice(0, SHOWN), ...outside.slice(0, SHOWN)].some((v) => edge(v));
  right.append(make("p", { class: "fine" }, `Distances on this page are good to ±${number(blur, 1)}.${marked ? " ≈: so near to the threshold that only 'coterie explain' can tell on which side." : ""}`));
}

// Under a mixture: those whose rows count most, in proportion to the probability of a common component.
function sharerTable(users, i, { chance }, body) {
  const { a } = users, weight = (v) => a.count[v] * chance[v];
  const others = Array.from({ length: users.n }, (_, v) => v).filter((v) => v !== i && chance[v] > 0.005).sort((p, q) => weight(q) - weight(p));
  const link = (v) => make("button", { type: "button", onclick: () => users.choose(v) }, String(users.ids[v]));
  body.append(make("h4", {}, `Lends most (${Math.min(SHOWN, others.length)} of ${number(others.length)} others)`),
    others.length ? table(["user", "rows", "of one component", "rows that count"], others.slice(0, SHOWN).map((v) => [link(v), a.count[v], percent(chance[v]), Math.round(weight(v))])) : make("p", {}, "Nobody."),
    make("p", { class: "fine" }, "A mixture lends in proportion to the probability that two users are of one component; nobody is simply in or out."));
}

function whyNoTable(users, i, trace) {
  const { m } = users;
  if (m.kind === "everybody") return "Everybody lends to everybody under this algorithm; no distance is looked at.";
  if (m.kind === "nobody") return "Nobody lends to anybody under this algorithm.";
  if (m.kind === "label") return `Lends: the ${plural(trace.lends.reduce((s, v) => s + v, 0), "user")} of the same label; no distance is looked at.`;
  if (m.kind === "components") return `Users share in proportion to the probability that they are of one component; 'coterie explain MODEL ${users.ids[i]}' lists who.`;
  return `This model is too large for the page to hold every estimate; 'coterie explain MODEL ${users.ids[i]}' lists who lends and why.`;
}

// Own estimate and pooled estimate of every feature.
function estimateChart(users, i, body) {
  const { m, a } = users, d = m.dim;
  if (!a.theta || !a.pooled_theta || d > 40) return;
  const own = a.theta.subarray(i * d, (i + 1) * d), pooled = a.pooled_theta.subarray(a.group[i] * d, (a.group[i] + 1) * d);
  const values = [...own, ...pooled, 0], low = Math.min(...values), high = Math.max(...values), room = (high - low) * 0.05 || 0.1;
  const rows = Array.from({ length: d }, (_, j) => ({ name: m.features[j], own: own[j], pooled: pooled[j] }));
  body.append(make("h4", {}, "What does the user like, by own data and by all that is pooled?"));
  plot(body, d * 24 + 62, (width, height) => {
    const left = Math.min(width * 0.4, 14 + 7.2 * Math.max(...rows.map((row) => row.name.length)));
    const drawn = frame(width, height, { low: low - room, high: high + room, name: "weight of the feature in the reward" }, { low: 0, high: d, ticks: [], name: "" }, { label: "Own and pooled estimates", margin: { left } });
    drawn.front.append(make("line", { class: "axis", x1: drawn.xs(0), x2: drawn.xs(0), y1: drawn.margin.top, y2: drawn.foot }));
    rows.forEach((row, j) => {
      const y = drawn.ys(d - j - 0.5), told = { onmousemove: (event) => tell(event, row.name, `own ${number(row.own)}`, `pooled ${number(row.pooled)}`), onmouseleave: untell };
      drawn.front.append(
        make("text", { class: "name", x: left - 8, y: y + 4, "text-anchor": "end" }, row.name),
        make("line", { x1: drawn.xs(row.own), x2: drawn.xs(row.pooled), y1: y, y2: y, stroke: "var(--none)", "stroke-width": 2 }),
        dot(drawn.xs(row.own), y, 0), dot(drawn.xs(row.pooled), y, 1),
        make("rect", { x: left, width: width - left, y: y - 12, height: 24, fill: "transparent", ...told }));
    });
    return drawn.svg;
  });
  body.append(legend([["by own data", 0], ["by all that is pooled", 1]]));
}

// How well each algorithm did on this user's held-out rows.
function heldOut(page, id, body) {
  const known = page.run?.users, i = known ? page.runPlace.get(String(id)) : undefined;
  if (i === undefined || !page.arrays.run_error) return;
  const n = known.algorithms.length, { run_error: error, run_rows: count } = page.arrays;
  const rows = known.algorithms.map((name, k) => [name, count[i * n + k], count[i * n + k] ? error[i * n + k] : null]);
  rows.sort((p, q) => (p[2] ?? Infinity) - (q[2] ?? Infinity));
  body.append(make("h4", {}, "How well did each algorithm foretell this user's held-out rows?"),
    table(["algorithm", "held-out rows", "mean squared error"], rows),
    make("p", { class: "fine" }, "One user's rows are too few for a verdict; see the evaluation of all users."));
}
