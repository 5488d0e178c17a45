// Scales, ticks and the frame of a chart.

const MARGIN = { left: 62, right: 16, top: 14, bottom: 44 };
const LETTER = 6.6; // pixels, about

function scale(low, high, from, to, log = false) {
  const f = log ? Math.log10 : (v) => v;
  const [a, b] = [f(low), f(high)];
  const at = (value) => from + ((f(value) - a) / (b - a || 1)) * (to - from);
  at.back = (place) => {
    const value = a + ((place - from) / (to - from)) * (b - a);
    return log ? 10 ** value : value;
  };
  return Object.assign(at, { low, high, log });
}

function ticks(at, most) {
  return at.log ? logTicks(at.low, at.high, most) : roundTicks(at.low, at.high, most);
}

function roundTicks(low, high, most) {
  const rough = (high - low) / Math.max(1, most) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [0.5, 1, 2, 5, 10].map((k) => k * power), first = steps.findIndex((s) => s >= rough);
  const multiples = (step) => {
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(+(k * step).toPrecision(12));
    return found;
  };
  const found = multiples(steps[first]);
  return found.length > 1 ? found : multiples(steps[first - 1]); // one tick alone tells no scale
}

function logTicks(low, high, most) {
  for (const parts of [[1, 2, 5], [1, 3], [1]]) {
    const found = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
      for (const part of parts) {
        const value = part * 10 ** e;
        if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
      }
    if (found.length <= most) return found.length > 1 ? found : roundTicks(low, high, most);
  }
  const first = Math.ceil(Math.log10(low)), last = Math.floor(Math.log10(high));
  const step = Math.ceil((last - first + 1) / most);
  const found = [];
  for (let e = first; e <= last; e += step) found.push(10 ** e);
  return found;
}

function tickText(value, log) {
  const size = Math.abs(value);
  if (size >= 1e6 && size < 1e9) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4 && size < 1e6) return `${+(value / 1e3).toPrecision(3)}k`;
  return number(value, log ? 2 : 4);
}

// An SVG with axes, grid and titles; gives the scales and the group to draw into.
function frame(width, height, x, y, more = {}) {
  const margin = { ...MARGIN, ...more.margin };
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": more.label });
  const xs = scale(x.low, x.high, margin.left, width - margin.right, x.log);
  const ys = scale(y.low, y.high, height - margin.bottom, margin.top, y.log);
  const back = make("g"), front = make("g");
  const foot = height - margin.bottom;
  const shown = x.ticks ?? ticks(xs, Math.max(2, Math.floor((width - margin.left) / 78)));
  for (const value of shown) {
    if (!x.ticks) back.append(make("line", { class: "grid", x1: xs(value), x2: xs(value), y1: margin.top, y2: foot }));
    const text = x.names ? x.names[shown.indexOf(value)] : tickText(value, x.log) + (x.unit ?? "");
    back.append(make("text", { x: xs(value), y: foot + 17, "text-anchor": "middle" }, text));
  }
  for (const value of y.ticks ?? ticks(ys, Math.max(2, Math.floor((height - 60) / 42)))) {
    back.append(make("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: ys(value), y2: ys(value) }));
    const text = y.percent ? percent(value) : tickText(value, y.log);
    back.append(make("text", { x: margin.left - 7, y: ys(value) + 4, "text-anchor": "end" }, text));
  }
  back.append(
    make("line", { class: "axis", x1: margin.left, x2: width - margin.right, y1: foot, y2: foot }),
    make("text", { class: "name", x: (margin.left + width - margin.right) / 2, y: height - 6, "text-anchor": "middle" }, fitting(x.name, width - margin.left - margin.right)),
    make("text", {
      class: "name", "text-anchor": "middle",
      transform: `translate(13 ${(margin.top + foot) / 2}) rotate(-90)`,
    }, fitting(y.name, foot - margin.top)));
  svg.append(back, front);
  return { svg, front, xs, ys, margin, foot };
}

// The first of some names that has room.
function fitting(names, room) {
  const all = [names].flat();
  return all.find((name) => name.length * LETTER < room) ?? all[all.length - 1];
}

// A vertical line with a name, kept inside the frame; at level -1 the name stands above the frame.
function markAt(drawn, value, name, width, level = 0) {
  const { xs, front, margin, foot } = drawn;
  if (value < xs.low || value > xs.high) return;
  const x = xs(value), right = x + name.length * LETTER + 8 > width && x > width / 2;
  front.append(
    make("line", { class: "marker", x1: x, x2: x, y1: margin.top, y2: foot }),
    make("text", { class: "marked", x: x + (right ? -6 : 6), y: margin.top + 11 + 15 * level, "text-anchor": right ? "end" : "start" }, name));
}
