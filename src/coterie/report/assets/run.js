// What an evaluation found: the verdict, learning curves, users with little data, calibration, values.

const METRICS = {
  scaled_error: ["squared error, up to a common factor", false],
  direction_error: ["squared error, up to a factor for each user", false],
  choice: ["mean reward of the action it would have picked", true],
  squared_error: ["mean squared error on held-out rows", false],
  r2: ["R², against each user's own mean", true],
  log_likelihood: ["log-likelihood of a held-out row", true],
};
const ESTIMATORS = { ips: "inverse propensities (IPS)", snips: "self-normalised IPS", direct: "the direct method", doubly_robust: "doubly robust", replay: "replay" };
const BESIDE = ["random pick", "best in hindsight"];

function runSections(page, main) {
  const run = page.run;
  main.append(make("h2", {}, "Which algorithm, on these logs?"));
  for (const verdict of run.verdicts)
    main.append(make("p", { class: "note verdict" }, verdict.sentence));
  for (const note of run.notes) main.append(make("p", { class: "note" }, note));
  const cards = make("div", { class: "cards" });
  main.append(cards);
  page.runPlace = new Map((run.users?.ids ?? []).map((id, i) => [String(id), i]));
  const names = [...new Set([...run.scores, ...run.calibration, ...run.values].map((score) => score.algorithm))];
  names.sort((p, q) => BESIDE.includes(p) - BESIDE.includes(q));
  const slots = new Map(names.map((name, k) => [name, k]));
  if (run.scores.length) { curveCard(cards, run, slots); decileCard(cards, run, slots); }
  if (run.calibration.length) calibrationCard(cards, run, slots);
  if (run.differences.length) differenceCard(cards, run, slots);
  if (run.values.length) valueCards(cards, run, slots);
  main.append(make("details", {}, make("summary", {}, "How the evaluation was made"),
    make("dl", {}, ...Object.entries({ ...run.counts, ...run.settings }).flatMap(([name, value]) => [
      make("dt", {}, name), make("dd", {}, typeof value === "number" ? number(value, 6) : Array.isArray(value) ? value.join(", ") : String(value))]))));
}

function groupName(run, group) {
  const few = run.settings.few;
  return { all: "all users", few: few ? `users with fewer than ${few} rows` : "users with few rows", unseen: "users without training rows" }[group] ?? `${group} of the users by rows`;
}

const wanted = (run) => run.verdicts[0]?.metric ?? run.settings.metric;
const have = (run) => Object.keys(METRICS).filter((metric) => run.scores.some((s) => s.metric === metric && s.value !== null));
const level = (run) => percent(run.settings.confidence ?? 0.95);
const interval = (s) => (s.low === null ? number(s.value) : `${number(s.value)} (${number(s.low)} to ${number(s.high)})`);

function select(label, options, act) {
  const id = `s${document.querySelectorAll("select").length}${Math.random().toString(36).slice(2, 7)}`;
  const chosen = make("select", { id, onchange: act }, ...options.map(([value, name]) => make("option", { value }, name)));
  return { chosen, nodes: [make("label", { for: id }, label), chosen] };
}

function curveCard(parent, run, slots) {
  const body = card(parent, "How does each algorithm do with little data, and with more?", `Bands are ${level(run)} intervals over users.`, true);
  const groups = [...new Set(run.scores.map((s) => s.group))].filter((g) => !g.startsWith("decile"));
  const holder = make("div", {});
  const draw = () => { holder.replaceChildren(); drawCurves(holder, run, metric.chosen.value, group.chosen.value, slots); };
  const metrics = have(run).sort((p, q) => (q === wanted(run)) - (p === wanted(run)));
  const metric = select("Measured by", metrics.map((key) => [key, METRICS[key][0]]), draw);
  const group = select("for", groups.map((key) => [key, groupName(run, key)]), draw);
  body.append(make("div", { class: "bar" }, ...metric.nodes, ...group.nodes), holder);
  draw();
}

function drawCurves(parent, run, metric, group, slots) {
  const scores = run.scores.filter((s) => s.metric === metric && s.group === group && s.value !== null);
  if (!scores.length) { parent.append(make("p", {}, "Nothing could be measured for these users.")); return; }
  const names = [...slots.keys()].filter((name) => scores.some((s) => s.algorithm === name));
  const x = scores.map((s) => s.count || 0), [low, high] = [Math.min(...x), Math.max(...x)];
  const log = low > 0 && high / low > 4;
  const core = scores.filter((s) => !BESIDE.includes(s.algorithm)), shown = core.length ? core : scores;
  const y = spanOf([...shown.flatMap((s) => [s.value, s.low, s.high]), ...scores.map((s) => s.value)]);
  const series = names.map((name) => ({
    name, slot: slots.get(name), band: !BESIDE.includes(name),
    points: scores.filter((s) => s.algorithm === name).sort((p, q) => p.fraction - q.fraction).map((s) => ({
      x: s.count, y: s.value, low: s.low, high: s.high,
      lines: [interval(s), `${percent(s.fraction)} of the training rows, ${number(s.count)} a user`, `${plural(s.n_users, "user")}, ${plural(s.n_rows, "row")}`],
    })),
  }));
  const room = high > low ? 0.04 : 0.5;
  const ends = log ? [low / 1.1, high * 1.1] : [low - (high - low || 1) * room, high + (high - low || 1) * room];
  lines(parent, { series, dots: true, height: 380, label: `Learning curves by ${METRICS[metric][0]}`, x: { low: ends[0], high: ends[1], log, name: "training rows of a user (mean)" }, y: { ...y, name: METRICS[metric][0] } });
  parent.append(direction(metric));
}

const direction = (metric) => make("p", { class: "fine" }, METRICS[metric][1] ? "Higher is better." : "Lower is better.");

function spanOf(values) {
  const found = values.filter((v) => v !== null && Number.isFinite(v)), low = Math.min(...found), high = Math.max(...found);
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return { low: low - room, high: high + room };
}

function decileCard(parent, run, slots) {
  const last = Math.max(...run.scores.map((s) => s.fraction));
  const some = run.scores.filter((s) => s.group.startsWith("decile") && s.fraction === last && s.value !== null && !BESIDE.includes(s.algorithm));
  const metrics = have(run).filter((metric) => some.some((s) => s.metric === metric)).sort((p, q) => (q === wanted(run)) - (p === wanted(run)));
  if (!metrics.length) return;
  const body = card(parent, "Whom does it help: users with few rows, or with many?", `Trained on all training rows; users in tenths, from the fewest rows to the most. Bands are ${level(run)} intervals over users.`, true);
  const holder = make("div", {});
  const draw = () => {
    const scores = some.filter((s) => s.metric === metric.chosen.value), tenth = (s) => +s.group.split(" ")[1];
    const series = [...slots.keys()].filter((name) => scores.some((s) => s.algorithm === name)).map((name) => ({
      name, slot: slots.get(name), band: true,
      points: scores.filter((s) => s.algorithm === name).sort((p, q) => tenth(p) - tenth(q)).map((s) => ({ x: tenth(s), y: s.value, low: s.low, high: s.high, lines: [interval(s), `${number(s.count)} training rows a user`, plural(s.n_users, "user")] })),
    }));
    const at = Array.from({ length: 10 }, (_, k) => k + 1), count = (k) => scores.find((s) => tenth(s) === k)?.count;
    holder.replaceChildren();
    lines(holder, { series, dots: true, height: 340, label: "Scores by tenths of the users", x: { low: 0.7, high: 10.3, ticks: at, names: at.map((k) => (count(k) === undefined ? String(k) : number(count(k), 2))), name: "training rows of the users of each tenth (mean)" }, y: { ...spanOf(scores.flatMap((s) => [s.value, s.low, s.high])), name: METRICS[metric.chosen.value][0] } });
    holder.append(direction(metric.chosen.value));
  };
  const metric = select("Measured by", metrics.map((key) => [key, METRICS[key][0]]), draw);
  body.append(make("div", { class: "bar" }, ...metric.nodes), holder);
  draw();
}

function calibrationCard(parent, run, slots) {
  const last = Math.max(...run.calibration.map((c) => c.fraction)), some = run.calibration.filter((c) => c.fraction === last);
  const off = some.reduce((worst, c) => (Math.abs(c.covered - c.level) > Math.abs(worst.covered - worst.level) ? c : worst));
  const body = card(parent, "Do the intervals hold what they promise?", `On the dashed line they do; below it they are too narrow. Furthest off: ${off.algorithm}, whose ${percent(off.level)} intervals hold ${percent(off.covered)} of the held-out rewards.`);
  const names = [...slots.keys()].filter((name) => some.some((c) => c.algorithm === name));
  const series = names.map((name) => ({
    name, slot: slots.get(name), band: true,
    points: some.filter((c) => c.algorithm === name).sort((p, q) => p.level - q.level).map((c) => ({ x: c.level, y: c.covered, low: c.low, high: c.high, lines: [`promised ${percent(c.level)}`, `held ${percent(c.covered)} (${percent(c.low)} to ${percent(c.high)})`, plural(c.n_rows, "row")] })),
  }));
  const low = Math.max(0, Math.min(...some.map((c) => Math.min(c.level, c.low))) - 0.05);
  lines(body, { series, dots: true, diagonal: true, height: 340, label: "Calibration", x: { low, high: 1, name: "share of rewards that intervals promise to hold" }, y: { low, high: 1, name: "share that they hold" } });
}

function differenceCard(parent, run, slots) {
  const last = Math.max(...run.differences.map((d) => d.fraction)), asked = wanted(run);
  const metric = run.differences.some((d) => d.metric === asked) ? asked : run.differences[0].metric;
  const some = run.differences.filter((d) => d.fraction === last && d.metric === metric && d.group === "all" && Number.isFinite(d.value));
  if (!some.length) return;
  const told = some.filter((d) => d.told_apart).length;
  const body = card(parent, "Which differences are real?", `Paired, user by user: ${told} of ${plural(some.length, "comparison")} can be told from no difference, with ${level(run)} intervals widened for their number where that is said.`);
  const rows = some.map((d) => ({ name: `${d.algorithm} over ${d.against}`, value: d.value, low: d.low, high: d.high, slot: slots.get(d.algorithm) ?? 0, lines: [interval(d), d.told_apart ? "told apart" : "no difference can be told", plural(d.n_users, "user")] }));
  rows.sort((p, q) => q.value - p.value);
  const span = spanOf([0, ...rows.flatMap((r) => [r.low, r.high])]);
  intervals(body, { rows: rows.slice(0, 24), label: "Paired differences", x: { ...span, name: [`better by, in ${METRICS[metric]?.[0] ?? metric}`, `better by (${metric.replace("_", " ")})`] }, zero: { at: 0, name: "no difference" } });
}

function valueCards(parent, run, slots) {
  const estimators = [...new Set(run.values.map((v) => v.estimator))].filter((name) => name !== "logged");
  const logged = run.values.find((v) => v.estimator === "logged");
  if (!estimators.length) return;
  const body = card(parent, "What would each algorithm have earned, had it decided?", `Reward per decision, estimated from the logged propensities; bars are ${level(run)} intervals over users.${logged && logged.value !== null ? ` What was logged earned ${interval(logged)}.` : ""}`, true);
  const holder = make("div", {});
  const draw = () => {
    const some = run.values.filter((v) => v.estimator === estimator.chosen.value && v.value !== null);
    holder.replaceChildren();
    if (!some.length) { holder.append(make("p", {}, "This estimator has no value here; the notes say why.")); return; }
    const rows = some.map((v) => ({ name: v.algorithm, value: v.value, low: v.low, high: v.high, slot: slots.get(v.algorithm) ?? 0, lines: [interval(v), `effective sample size ${number(v.effective)} of ${number(v.n_rows)} rows`, `largest weight ${number(v.largest_weight)}`] }));
    rows.sort((p, q) => q.value - p.value);
    const asLogged = logged && logged.value !== null ? { at: logged.value, name: "as logged" } : null;
    const ends = spanOf([asLogged?.at ?? null, ...rows.flatMap((r) => [r.value, r.low, r.high])]);
    intervals(holder, { rows, label: "Off-policy values", x: { ...ends, name: "reward per decision" }, zero: asLogged });
    const heads = ["algorithm", "value", "interval", "≥ (Bernstein)", "≥ (betting)", "effective rows", "largest weight", "mean weight", "clipped"];
    holder.append(table(heads, some.map((v) => [v.algorithm, v.value, v.low === null ? "–" : `${number(v.low)} to ${number(v.high)}`, v.bernstein, v.betting, v.effective, v.largest_weight, v.mean_weight, v.clipped])));
  };
  const estimator = select("Estimated by", estimators.map((name) => [name, ESTIMATORS[name] ?? name.replaceAll("_", " ")]), draw);
  body.append(make("div", { class: "bar" }, ...estimator.nodes), holder);
  draw();
}
