// What a fitted model did: data, pairs, the map, the gap, who gains.

function modelSections(page, main) {
  const m = page.model, a = page.arrays;
  const users = new Users(page);
  main.append(modelTiles(users));
  for (const note of m.notes) main.append(make("p", { class: "note" }, note));
  const person = make("section", { id: "person", class: "cards" });
  person.hidden = true;
  main.append(person);
  main.append(make("h2", {}, "Who is alike?"));
  const first = make("div", { class: "cards" });
  main.append(first);
  const map = mapCard(first, users);
  main.append(make("h2", {}, "How much do the data say?"));
  const second = make("div", { class: "cards" });
  main.append(second);
  countCard(second, m);
  apartCard(second, m);
  pairCard(second, users);
  gainCard(second, m);
  sweepCards(second, m);
  main.append(settingsOf(m));
  users.choose = (i) => personPage(page, users, map, person, i);
  return users;
}

// Everything known of each user, and who lends to whom as far as the page can tell.
class Users {
  constructor(page) {
    Object.assign(this, { page, m: page.model, a: page.arrays, ids: page.model.users });
    this.n = this.ids.length;
    this.place = new Map(this.ids.map((id, i) => [String(id), i]));
  }

  pooledUsers(i) { return this.a.pooled_users[this.a.group[i]]; }
  pooledCount(i) { return this.a.pooled_count[this.a.group[i]]; }
  ownShare(i) { return this.pooledCount(i) ? this.a.count[i] / this.pooledCount(i) : 0; }
  lines(i) {
    return [`User ${this.ids[i]}`, `${plural(this.a.count[i], "row")} of own data`,
      `served from ${plural(this.pooledUsers(i), "user")}, ${plural(this.pooledCount(i), "row")}`,
      `${percent(this.ownShare(i))} own; radius ${number(this.a.radius[i])}`];
  }

  // Distance, threshold and answer of everybody to user i; null where the page cannot tell.
  trace(i) {
    const { a, m, n } = this, lends = new Uint8Array(n);
    if (m.kind === "everybody") return { lends: lends.fill(1) };
    lends[i] = 1;
    if (m.kind === "nobody") return { lends };
    if (m.kind === "label") {
      for (let v = 0; v < n; v++) if (a.group[v] === a.group[i]) lends[v] = 1;
      return { lends };
    }
    if (m.kind === "components") return this.shared(i);
    if (!a.theta) return null;
    const distance = new Float32Array(n), threshold = new Float32Array(n), d = m.dim;
    for (let v = 0; v < n; v++) {
      let sum = 0;
      for (let j = 0; j < d; j++) { const gap = a.theta[i * d + j] - a.theta[v * d + j]; sum += gap * gap; }
      distance[v] = Math.sqrt(sum);
      const both = a.slack[i] + a.slack[v];
      const limit = m.kind === "gap" ? (m.mutual ? Math.min(a.limit[i], a.limit[v]) : a.limit[i]) : 0;
      threshold[v] = m.kind === "gap" ? limit - both : both;
      if (v !== i) lends[v] = m.kind === "gap" ? distance[v] < threshold[v] - this.blur() : distance[v] <= threshold[v];
    }
    return { lends, distance, threshold };
  }

  // Probability that each user is of the component of user i; those with half of the largest lend.
  shared(i) {
    const p = this.a.responsibility;
    if (!p) return null;
    const k = p.length / this.n, chance = new Float32Array(this.n), lends = new Uint8Array(this.n);
    let most = 0;
    for (let v = 0; v < this.n; v++) {
      for (let j = 0; j < k; j++) chance[v] += p[i * k + j] * p[v * k + j];
      if (v !== i) most = Math.max(most, chance[v]);
    }
    for (let v = 0; v < this.n; v++) lends[v] = v === i || (most > 0 && chance[v] >= most / 2) ? 1 : 0;
    return { lends, chance };
  }

  // How far a distance on this page can be off, for the estimates are kept rounded.
  blur() {
    const stored = this.page.stored;
    return stored.theta.step * Math.sqrt(this.m.dim) + 4 * (Math.exp(stored.slack.step) - 1) * 0.5;
  }
}

function modelTiles(users) {
  const { m, a, n } = users, counts = Array.from(a.count).sort((p, q) => p - q);
  const share = a.group.reduce((sum, _, i) => sum + users.ownShare(i), 0) / n;
  const alone = a.group.reduce((sum, _, i) => sum + (users.pooledUsers(i) <= 1 ? 1 : 0), 0);
  const tile = (value, text) => make("div", { class: "tile" }, make("b", {}, value), make("span", {}, text));
  return make("section", { class: "tiles", "aria-label": "The model in numbers" },
    tile(number(n), n === 1 ? "user" : "users"),
    tile(number(m.n_samples), "rows in the log"),
    tile(number(counts[Math.floor((n - 1) / 2)]), "rows of the middle user"),
    tile(number(m.mean_pooled_users), "users that a user is served from, on average"),
    tile(percent(share), "of what a user is served from is own data, on average"),
    tile(number(alone), "users are served alone"));
}

const WAYS = { cluster: "cluster", count: "rows of own data", pooled: "users served from", radius: "radius of the own estimate" };

function mapCard(parent, users) {
  const { m, a, n } = users, [p, q] = m.plane.share;
  const grouped = m.clusters ? `${plural(m.clusters, "cluster")} of users who lend to each other${m.clusters === 12 ? " (the largest are shown)" : ""}` : "nobody lends to anybody else";
  const body = card(parent, "Where do users lie, and who is alike?",
    `Each point is a user's own estimate, seen along the two directions in which users differ most (${percent(p + q)} of all differences); ${grouped}.`, true);
  const way = make("select", { "aria-label": "Colour by", id: "colour" }, ...Object.entries(WAYS).map(([key, name]) => make("option", { value: key }, name)));
  const cloud = new Cloud(body, {
    x: a.x, y: a.y, even: true, wide: true, height: 560, label: "Map of users",
    axes: { x: directionName(m, 0), y: directionName(m, 1) },
    tell: (i) => [...users.lines(i), a.cluster[i] === 255 ? "in no cluster" : `cluster ${a.cluster[i] + 1}`],
    choose: (i) => users.choose(i),
  });
  cloud.bar.prepend(make("label", { for: "colour" }, "Colour by"), way);
  const key = make("div", {});
  body.append(key, make("p", { class: "fine" }, "Drag to move; scroll with Ctrl, or after a click on the map, to zoom; double click shows everything; a click on a point opens that user."));
  const paint = () => { const made = colouring(users, way.value); key.replaceChildren(made.key); cloud.coloured(made.code, made.palette, made.names); };
  way.addEventListener("change", paint);
  if (!m.clusters) way.value = "count";
  paint();
  drawings.add(() => key.replaceChildren(colouring(users, way.value).key));
  return cloud;
}

function directionName(m, k) {
  const weights = m.plane.direction[k], order = weights.map((_, j) => j).sort((i, j) => Math.abs(weights[j]) - Math.abs(weights[i]));
  if (!weights.some((w) => w)) return "there is one coordinate only";
  const most = order.slice(0, 2).filter((j) => Math.abs(weights[j]) > 0.2);
  const named = most.map((j) => `${weights[j] < 0 ? "less" : "more"} ${m.features[j]}`).join(", ");
  const short = `${k ? "second" : "first"} direction (${percent(m.plane.share[k])} of differences)`;
  return named ? [`${k ? "second" : "first"} direction, ${percent(m.plane.share[k])} of differences (${named})`, short, k ? "second direction" : "first direction"] : short;
}

// A colour code for every user, its palette and its key.
function colouring(users, way) {
  const { m, a, n } = users;
  if (way === "cluster") {
    const shown = Math.min(m.clusters, COLOURS - 1), code = new Uint8Array(n);
    const sizes = new Uint32Array(256), middle = Array.from({ length: shown }, () => [[], []]);
    for (let i = 0; i < n; i++) {
      sizes[a.cluster[i]]++;
      code[i] = a.cluster[i] === 255 ? shown + 1 : Math.min(a.cluster[i], shown);
      if (a.cluster[i] < shown) { middle[a.cluster[i]][0].push(a.x[i]); middle[a.cluster[i]][1].push(a.y[i]); }
    }
    const half = (values) => values.sort((p, q) => p - q)[Math.floor(values.length / 2)];
    const names = middle.map(([x, y], k) => ({ name: String(k + 1), x: half(x), y: half(y) }));
    const palette = () => [...Array.from({ length: shown + 1 }, (_, k) => colour(`c${k}`)), colour("none")];
    const entries = Array.from({ length: shown }, (_, k) => [`${k + 1} (${plural(sizes[k], "user")})`, slot(k)]);
    if (m.clusters > shown) entries.push([m.clusters === shown + 1 ? String(m.clusters) : `${shown + 1} to ${m.clusters}`, slot(shown)]);
    if (sizes[255]) entries.push([`in none (${plural(sizes[255], "user")})`, "var(--none)"]);
    return { code, palette, names, key: swatches(entries) };
  }
  const value = { count: (i) => a.count[i], pooled: (i) => users.pooledUsers(i), radius: (i) => a.radius[i] }[way];
  const sorted = Float64Array.from({ length: n }, (_, i) => value(i)).sort();
  const steps = [...new Set(Array.from({ length: 8 }, (_, k) => sorted[Math.floor(((k + 1) * n) / 9)]))];
  const code = Uint8Array.from({ length: n }, (_, i) => steps.filter((s) => value(i) >= s).length);
  const shade = (k) => ramp()[steps.length ? Math.round((k * 8) / steps.length) : 4];
  const entries = Array.from({ length: steps.length + 1 }, (_, k) => [
    k === 0 ? (steps.length ? `below ${number(steps[0])}` : number(sorted[0])) : k === steps.length ? `${number(steps[k - 1])} and more` : `${number(steps[k - 1])} to ${number(steps[k])}`, shade(k)]);
  return { code, palette: () => entries.map((_, k) => shade(k)), names: [], key: swatches(entries) };
}

function countCard(parent, m) {
  const { edges, users, none } = m.counts, total = users.reduce((s, v) => s + v, 0) + none;
  const few = m.marks[0];
  const below = users.reduce((sum, v, i) => sum + (edges[i + 1] <= few.at * 1.0001 ? v : 0), none);
  const body = card(parent, "How much data has each user?",
    sentence(`${none ? `${plural(none, "user")} ${none === 1 ? "has" : "have"} no data; ` : ""}about ${percent(below / total)} have fewer rows than there are coordinates (${m.dim}), and cannot be known from their own data alone.`));
  const whole = edges[1] - edges[0] === 1 && edges[0] % 1 !== 0;
  histogram(body, {
    edges, heights: users, marks: m.marks, label: "Histogram of rows per user",
    x: { name: whole ? "rows of a user" : "rows of a user (logarithmic)", log: !whole }, y: { name: "users" },
    text: (i) => [plural(users[i], "user"), whole ? plural(Math.round(edges[i] + 0.5), "row") : `${number(Math.ceil(edges[i]))} to ${number(Math.floor(edges[i + 1]))} rows`],
  });
}

function apartCard(parent, m) {
  const t = m.told_apart;
  if (!t) return;
  const at = t.gap.find((_, k) => t.seen[k] >= 0.5);
  const body = card(parent, "How different must two users be for the data to tell them apart?",
    (at ? `Half of the users have radii that resolve a distance of ${number(at)} or more; users who differ by less look alike.` : "Not even the largest distance on this axis is resolved for half of the users.")
    + (t.theory && !t.theory.some((share) => share) ? " The theory, which takes the worst case, asks for more data than anybody has." : ""));
  const series = [{ name: "by the radii of this fit (2 CI below the distance)", points: t.gap.map((x, k) => ({ x, y: t.seen[k], lines: [`distance ${number(x)}`, `${percent(t.seen[k])} of users`] })) }];
  const told = t.assumed ? "assumed" : "of the log";
  if (t.theory) series.push({ name: `by the theory (delta-sufficient at the regularity ${told}, ${number(t.regularity)})`, points: t.gap.map((x, k) => ({ x, y: t.theory[k], lines: [`distance ${number(x)}`, `${percent(t.theory[k])} of users`] })) });
  lines(body, { series, label: "Share of users with enough data", x: { low: t.gap[0], high: t.gap[t.gap.length - 1], log: true, name: "distance between two users' preferences" }, y: { low: 0, high: 1, percent: true, name: "users with enough data" } });
}

const VERBS = { gap: "is below the gap less both radii", separation: "is not above the sum of both radii" };

function pairCard(parent, users) {
  const p = users.m.pairs, kind = users.m.kind, decided = kind in VERBS;
  if (!p.distance.length && !p.infinite) return;
  const above = p.distance.filter((v, k) => v > p.threshold[k]).length;
  const answer = decided
    ? `A user lends if the distance of the two estimates ${VERBS[kind]}: ${percent(p.lending / p.drawn)} of ${number(p.drawn)} pairs drawn at random do.`
    : `This algorithm looks at no distance. Held against the sum of both radii, ${percent(above / p.drawn)} of ${number(p.drawn)} pairs drawn at random are provably different.`;
  const body = card(parent, decided ? "Which pairs of users may share data?" : "Which pairs of users are provably different?", answer);
  const [below, beyond] = decided ? ["may share", "may not"] : ["not told apart", "provably different"];
  if (p.distance.length) {
    const cloud = new Cloud(body, {
      x: Float32Array.from(p.threshold), y: Float32Array.from(p.distance), diagonal: true, height: 330, label: "Distances of pairs against their thresholds",
      axes: { x: kind === "gap" ? "threshold: gap less both radii" : "threshold: sum of both radii", y: "distance of the estimates" },
      tell: (k) => [`${users.ids[p.first[k]]} and ${users.ids[p.second[k]]}`, `distance ${number(p.distance[k])}`, `threshold ${number(p.threshold[k])}`, p.distance[k] < p.threshold[k] ? below : beyond],
      choose: (k) => users.choose(p.first[k]),
    });
    cloud.coloured(Uint8Array.from(p.distance, (v, k) => (v < p.threshold[k] ? 0 : 1)), () => [colour("c0"), colour("c1")]);
    body.append(swatches([[`below the line: ${below}`, slot(0)], [`above: ${beyond}`, slot(1)]]));
  }
  if (p.infinite) body.append(make("p", { class: "fine" }, `${plural(p.infinite, "pair")} of those drawn have no finite threshold (a user with too few samples, or an infinite radius) and are not shown.`));
}

function gainCard(parent, m) {
  const d = m.deciles, first = d[0], last = d[d.length - 1];
  const times = (t) => (t.own ? `${number((t.own + t.borrowed) / t.own)} times their own` : number(t.borrowed));
  const body = card(parent, "Who gains from borrowing?",
    first.borrowed || last.borrowed
      ? `The tenth of the users with least data is served from ${times(first)} rows, the tenth with most from ${times(last)}.`
      : "Nobody: every user is served from own data alone.");
  const range = (t, text = number) => (t.low === t.high ? text(t.low) : `${text(t.low)}–${text(t.high)}`);
  stacked(body, {
    names: d.map((t) => range(t, tickText)), parts: [{ name: "own rows", values: d.map((t) => t.own) }, { name: "borrowed rows", values: d.map((t) => t.borrowed) }],
    x: { name: "rows of own data, in tenths of the users" }, y: { name: "rows served from (mean)" }, label: "Own and borrowed rows",
    text: (i) => [`${plural(d[i].users, "user")} with ${range(d[i])} rows`, `own ${number(d[i].own)}`, `borrowed ${number(d[i].borrowed)}`],
  });
}

function sweepCards(parent, m) {
  const s = m.sweep;
  if (!s) return;
  const what = m.kind === "gap" ? "gap" : "factor of the radii", x = { low: 0, high: s.at[s.at.length - 1], name: `${what} (all else as fitted)` };
  const now = s.now.low === s.now.high ? `now ${number(s.now.middle)}` : `now ${number(s.now.middle)} for the middle user`;
  const near = s.at.reduce((best, v, k) => (Math.abs(v - s.now.middle) < Math.abs(s.at[best] - s.now.middle) ? k : best), 0);
  const points = (band) => s.at.map((v, k) => ({ x: v, y: band.mean[k], low: band.low[k], high: band.high[k], lines: [`${what} ${number(v)}`, `mean ${number(band.mean[k])}`, `8 of 10 users: ${number(band.low[k])} to ${number(band.high[k])}`] }));
  const spread = `Mean of ${plural(s.looked_at, "user")}; the band holds 8 of 10.`;
  const one = card(parent, `What does the ${what} do to the number of lenders?`, `At ${number(s.now.middle)}, where the middle user stands now, ${plural(Math.round(s.users.mean[near]), "other user")} would lend. ${spread}`);
  lines(one, { series: [{ name: "users who lend", points: points(s.users), band: true }], x, y: { low: 0, high: Math.max(...s.users.high, 1) * 1.05, name: "other users who lend" }, marks: [{ at: s.now.middle, name: now }], label: "Lenders against the gap" });
  const two = card(parent, `What does the ${what} do to the samples?`, `A user has ${number(s.own)} own rows on average and would borrow ${number(s.borrowed.mean[near])} at ${number(s.now.middle)}. ${spread}`);
  const own = s.at.map((v) => ({ x: v, y: s.own, lines: [`${number(s.own)} own rows on average`] }));
  lines(two, { series: [{ name: "own rows", points: own }, { name: "borrowed rows", points: points(s.borrowed), band: true }], x, y: { low: 0, high: Math.max(...s.borrowed.high, s.own) * 1.05, name: "rows" }, marks: [{ at: s.now.middle, name: now }], label: "Samples against the gap" });
}

function settingsOf(m) {
  const list = Object.entries(m.settings).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
  const scaled = m.scale === 1 ? "" : ` Distances, radii and gaps are in units in which actions have at most length 1 (actions divided by ${number(m.scale)}).`;
  return make("details", {}, make("summary", {}, "How the model was fitted"), make("p", {}, m.summary + scaled), make("dl", {}, ...list));
}
