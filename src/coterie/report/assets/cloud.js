// A cloud of up to some 100,000 points on a canvas: zoom, move, hover, highlight.

class Cloud {
  // x, y: arrays; axes: {x: name, y: name}; even: one scale for both axes; tell(i): lines; choose(i): on a click.
  constructor(parent, { x, y, axes, height, even = false, diagonal = false, tell: lines, choose, label, wide = false }) {
    Object.assign(this, { x, y, axes, height, even, diagonal, lines, choose, label, wide });
    this.code = new Uint8Array(x.length);
    this.palette = () => [colour("c0")];
    this.names = [];
    this.lit = null;
    this.bounds = bounds(x, y);
    this.grid = new Grid(x, y, this.bounds);
    this.holder = make("div", { class: "plot" });
    this.canvas = make("canvas", { tabindex: 0, role: "img", "aria-label": label });
    this.canvas.style.position = "absolute";
    parent.append(this.buttons(), this.holder);
    this.listen();
    this.view = null;
    redrawn(this.holder, (width) => this.resize(width));
  }

  buttons() {
    const button = (text, label, act) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const middle = () => [(this.view.x0 + this.view.x1) / 2, (this.view.y0 + this.view.y1) / 2];
    this.bar = make("div", { class: "bar" },
      button("+", "Zoom in", () => this.zoom(1 / 1.6, ...middle())),
      button("−", "Zoom out", () => this.zoom(1.6, ...middle())),
      button("All", "Show everything", () => { this.view = null; this.draw(); }));
    return this.bar;
  }

  resize(width) {
    this.width = width;
    this.tall = Math.max(260, Math.min(this.height, width * (this.wide ? 0.62 : 0.85)));
    this.view = this.view && this.fitted(this.view);
    this.draw();
  }

  // The view that shows the whole cloud, or one grown so that both axes have one scale.
  fitted(view) {
    if (!this.even) return view;
    const w = this.width - MARGIN.left - MARGIN.right, h = this.tall - MARGIN.top - MARGIN.bottom;
    const per = Math.max((view.x1 - view.x0) / w, (view.y1 - view.y0) / h);
    const [cx, cy] = [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
    return { x0: cx - (per * w) / 2, x1: cx + (per * w) / 2, y0: cy - (per * h) / 2, y1: cy + (per * h) / 2 };
  }

  draw() {
    if (!this.width) return;
    this.view ??= this.fitted(this.bounds);
    const { x0, x1, y0, y1 } = this.view;
    const drawn = frame(this.width, this.tall, { low: x0, high: x1, name: this.axes.x }, { low: y0, high: y1, name: this.axes.y }, { label: this.label });
    const { margin } = drawn, w = this.width - margin.left - margin.right, h = this.tall - margin.top - margin.bottom;
    this.at = { x: scale(x0, x1, 0, w), y: scale(y0, y1, h, 0), w, h };
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.round(w * ratio); this.canvas.height = Math.round(h * ratio);
    Object.assign(this.canvas.style, { left: `${margin.left}px`, top: `${margin.top}px`, width: `${w}px`, height: `${h}px` });
    this.holder.replaceChildren(drawn.svg, this.canvas, this.overlay(margin));
    this.paint(this.canvas.getContext("2d"), ratio);
  }

  paint(context, ratio) {
    const { x, y, code, at } = this, colours = this.palette();
    const n = x.length, size = (n > 30000 ? 1.6 : n > 5000 ? 2.6 : n > 800 ? 4 : 6) * Math.min(3, Math.max(1, this.magnified() ** 0.35));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, at.w, at.h);
    if (this.diagonal) this.paintDiagonal(context);
    const [ax, bx] = [at.w / (this.view.x1 - this.view.x0), this.view.x0], [ay, by] = [at.h / (this.view.y1 - this.view.y0), this.view.y1];
    const order = this.byCode();
    context.globalAlpha = this.lit ? 0.16 : n > 30000 ? 0.6 : 0.75;
    for (let k = colours.length - 1; k >= 0; k--) {
      context.fillStyle = colours[k];
      for (let j = order.start[k]; j < order.start[k + 1]; j++) {
        const i = order.rows[j], px = (x[i] - bx) * ax, py = (by - y[i]) * ay;
        if (px < -size || py < -size || px > at.w + size || py > at.h + size) continue;
        if (size > 3) { context.beginPath(); context.arc(px, py, size / 2, 0, 7); context.fill(); }
        else context.fillRect(px - size / 2, py - size / 2, size, size);
      }
    }
    context.globalAlpha = 1;
    if (this.lit) this.paintLit(context, Math.max(4, size));
  }

  paintLit(context, size) {
    const { at, lit } = this, colours = this.palette();
    for (let i = 0; i < lit.mask.length; i++) {
      if (!lit.mask[i] || i === lit.user) continue;
      context.fillStyle = colours[this.code[i]];
      context.beginPath(); context.arc(at.x(this.x[i]), at.y(this.y[i]), size / 2, 0, 7); context.fill();
    }
    const [px, py] = [at.x(this.x[lit.user]), at.y(this.y[lit.user])];
    context.strokeStyle = colour("paper"); context.lineWidth = 5;
    context.beginPath(); context.arc(px, py, 8, 0, 7); context.stroke();
    context.strokeStyle = colour("mark"); context.lineWidth = 2.5;
    context.beginPath(); context.arc(px, py, 8, 0, 7); context.stroke();
    context.fillStyle = colour("mark");
    context.beginPath(); context.arc(px, py, 3, 0, 7); context.fill();
  }

  paintDiagonal(context) {
    const { at, view } = this, low = Math.max(view.x0, view.y0), high = Math.min(view.x1, view.y1);
    context.strokeStyle = colour("mark"); context.lineWidth = 1.5; context.setLineDash([6, 4]);
    context.beginPath(); context.moveTo(at.x(low), at.y(low)); context.lineTo(at.x(high), at.y(high)); context.stroke();
    context.setLineDash([]);
  }

  // Names of clusters at their middles, so that colour is not the only channel.
  overlay(margin) {
    const over = make("svg", { class: "over", width: this.width, height: this.tall, "aria-hidden": "true" });
    for (const { name, x, y } of this.names) {
      const [px, py] = [this.at.x(x), this.at.y(y)];
      if (px < 0 || py < 0 || px > this.at.w || py > this.at.h) continue;
      over.append(make("text", {
        x: px + margin.left, y: py + margin.top + 5, "text-anchor": "middle", "font-weight": 700,
        style: "fill: var(--ink); stroke: var(--card); stroke-width: 4px; paint-order: stroke; font-size: 15px",
      }, name));
    }
    return over;
  }

  byCode() {
    if (this.sorted?.code === this.code) return this.sorted;
    const start = new Uint32Array(258);
    for (const k of this.code) start[k + 1]++;
    for (let k = 0; k < 257; k++) start[k + 1] += start[k];
    const next = start.slice(), rows = new Uint32Array(this.code.length);
    this.code.forEach((k, i) => { rows[next[k]++] = i; });
    this.sorted = { code: this.code, start, rows };
    return this.sorted;
  }

  coloured(code, palette, names = []) {
    Object.assign(this, { code, palette, names });
    this.draw();
  }

  highlight(user, mask) {
    this.lit = user === null ? null : { user, mask };
    this.draw();
  }

  magnified() { return (this.bounds.x1 - this.bounds.x0) / (this.view.x1 - this.view.x0) || 1; }

  zoom(factor, cx, cy) {
    const v = this.view;
    if (factor < 1 && this.magnified() > 2000) return;
    const near = (a, c) => c + (a - c) * factor;
    this.view = { x0: near(v.x0, cx), x1: near(v.x1, cx), y0: near(v.y0, cy), y1: near(v.y1, cy) };
    this.draw();
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  under(event) {
    const [px, py] = this.point(event), reach = 14;
    return this.grid.nearest(this.at.x.back(px), this.at.y.back(py), this.at.w / (this.view.x1 - this.view.x0), this.at.h / (this.view.y1 - this.view.y0), reach);
  }

  listen() {
    const { canvas } = this;
    let from = null, moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      from = { at: this.point(event), view: { ...this.view } }; moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) { this.hover(event); return; }
      const [px, py] = this.point(event), dx = px - from.at[0], dy = py - from.at[1];
      if (Math.hypot(dx, dy) < 4 && !moved) return;
      moved = true; untell();
      const sx = (dx / this.at.w) * (from.view.x1 - from.view.x0), sy = (dy / this.at.h) * (from.view.y1 - from.view.y0);
      this.view = { x0: from.view.x0 - sx, x1: from.view.x1 - sx, y0: from.view.y0 + sy, y1: from.view.y1 + sy };
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      const i = moved ? -1 : this.under(event);
      from = null;
      if (i >= 0 && this.choose) this.choose(i);
    });
    canvas.addEventListener("pointercancel", () => { from = null; });
    canvas.addEventListener("pointerleave", untell);
    canvas.addEventListener("dblclick", () => { this.view = null; this.draw(); });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      const [px, py] = this.point(event);
      this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.at.x.back(px), this.at.y.back(py));
    }, { passive: false });
  }

  hover(event) {
    const i = this.under(event);
    if (i < 0) untell(); else tell(event, ...this.lines(i));
  }
}

function bounds(x, y) {
  const ends = (values) => {
    let low = Infinity, high = -Infinity;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    if (!(low <= high)) return [0, 1];
    const room = (high - low) * 0.04 || Math.abs(high) * 0.1 || 0.5;
    return [low - room, high + room];
  };
  const [x0, x1] = ends(x), [y0, y1] = ends(y);
  return { x0, x1, y0, y1 };
}

// Points by cell, so that the one under the pointer is found without looking at all.
class Grid {
  constructor(x, y, { x0, x1, y0, y1 }) {
    const side = Math.max(1, Math.min(200, Math.ceil(Math.sqrt(x.length / 4))));
    Object.assign(this, { x, y, x0, y0, side, sx: side / (x1 - x0), sy: side / (y1 - y0) });
    const start = new Uint32Array(side * side + 1), cell = new Uint32Array(x.length);
    for (let i = 0; i < x.length; i++) { cell[i] = this.row(y[i]) * side + this.column(x[i]); start[cell[i] + 1]++; }
    for (let k = 0; k < side * side; k++) start[k + 1] += start[k];
    const next = start.slice();
    this.rows = new Uint32Array(x.length); this.start = start;
    cell.forEach((k, i) => { this.rows[next[k]++] = i; });
  }

  column(v) { return Math.max(0, Math.min(this.side - 1, Math.floor((v - this.x0) * this.sx))); }
  row(v) { return Math.max(0, Math.min(this.side - 1, Math.floor((v - this.y0) * this.sy))); }

  // Nearest point to (vx, vy) within `reach` pixels; kx, ky are pixels a unit.
  nearest(vx, vy, kx, ky, reach) {
    let best = -1, least = reach;
    const [dx, dy] = [reach / kx, reach / ky];
    for (let r = this.row(vy - dy); r <= this.row(vy + dy); r++)
      for (let c = this.column(vx - dx); c <= this.column(vx + dx); c++) {
        const k = r * this.side + c;
        for (let j = this.start[k]; j < this.start[k + 1]; j++) {
          const i = this.rows[j], far = Math.hypot((this.x[i] - vx) * kx, (this.y[i] - vy) * ky);
          if (far < least) { least = far; best = i; }
        }
      }
    return best;
  }
}
