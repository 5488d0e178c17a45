// What everything else stands on: opening the payload, numbers in words, elements, colours.

async function opened() {
  const text = document.getElementById("payload").textContent;
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const [name, entry] of Object.entries(head.arrays)) arrays[name] = unpacked(buffer, 4 + length, entry);
  return { ...head.values, arrays, stored: head.arrays };
}

function unpacked(buffer, start, entry) {
  const kinds = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };
  const codes = new kinds[entry.type](buffer, start + entry.offset, entry.length);
  if (entry.step === undefined) return codes;
  const values = new Float32Array(entry.length), top = entry.type === "u1" ? 255 : 65535;
  for (let i = 0; i < codes.length; i++) {
    const value = entry.low + entry.step * codes[i];
    if (entry.scale === "linear") values[i] = value;
    else values[i] = codes[i] === top ? Infinity : codes[i] === top - 1 ? 0 : Math.exp(value);
  }
  return values;
}

// Numbers as a person writes them: three digits, thousands parted.
function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "minus infinite";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(digits - 1).replace("e+", "e").replace(/^-/, "−");
  if (size >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString("en").replace("-", "−");
  return String(+value.toPrecision(digits)).replace("-", "−");
}
const sentence = (text) => text[0].toUpperCase() + text.slice(1);
const percent = (share) => (share > 0 && share < 0.005 ? "under 1%" : `${Math.round(100 * share)}%`);
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

// An element with attributes and children; text is never read as HTML.
function make(tag, attributes = {}, ...children) {
  const drawn = ["svg", "g", "path", "line", "rect", "circle", "text", "title", "polygon", "clipPath", "defs"];
  const element = drawn.includes(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A card: the question that its chart answers, the answer in a sentence, the chart.
function card(parent, question, answer, wide = false) {
  const body = make("figure", { class: wide ? "card wide" : "card" }, make("h3", {}, question), make("p", {}, answer));
  parent.append(body);
  return body;
}

function table(heads, rows) {
  const worded = (value) => typeof value === "string" && !/^[≈−–\d]|^never$/.test(value);
  const cell = (tag, value) => make(tag, { class: worded(value) ? "text" : null },
    typeof value === "number" || value === null ? number(value) : value);
  return make("div", { class: "scroll", tabindex: 0 }, make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((head, j) =>
      make("th", { scope: "col", class: rows.length && worded(rows[0][j]) ? "text" : null }, head)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((value) => cell("td", value)))))));
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const COLOURS = 8;
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "1 2", "6 2 1 2"];
const slot = (i) => `var(--c${i % COLOURS})`;

// A ramp that colour-blind readers can follow (cividis, at nine steps), for numbers.
const RAMP = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8779", "#a69d75", "#c4b56c", "#fee838"];
const DARK_RAMP = ["#2f5fae", "#4a74b0", "#6683ab", "#7f8fa3", "#979b9a", "#b0a98d", "#cab77d", "#e4c866", "#fee838"];
const ramp = () => (isDark() ? DARK_RAMP : RAMP);

function isDark() {
  const asked = document.documentElement.dataset.theme;
  return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// Charts are drawn again when the width or the colours change.
const drawings = new Set();
function redrawn(element, draw) {
  let width = 0;
  const again = () => { if (element.isConnected && element.clientWidth) draw(element.clientWidth); };
  new ResizeObserver(() => {
    if (element.clientWidth !== width) { width = element.clientWidth; again(); }
  }).observe(element);
  drawings.add(again);
}
const redraw = () => drawings.forEach((again) => again());

// What stands beside the pointer.
const tip = make("div", { class: "tip", role: "status", hidden: "" });
function tell(event, ...lines) {
  tip.replaceChildren(...lines.map((line, i) => make("div", {}, i ? line : make("b", {}, line))));
  tip.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = tip;
  tip.style.left = `${Math.max(6, Math.min(event.clientX + 14, innerWidth - w - 6))}px`;
  tip.style.top = `${event.clientY + 16 + h > innerHeight ? event.clientY - h - 12 : event.clientY + 16}px`;
}
const untell = () => { tip.hidden = true; };
