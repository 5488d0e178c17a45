"""Algorithms compared on a log of which nobody knows the truth.

Takes: `Logs`, the names of algorithms, `Plan`.
Gives: an `EvaluationRun`; and the winner fitted on everything.
Next: `coterie.cli`, the report.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.errors import LogError, ParameterError
from coterie.evaluation.alike import SETS, Alike, Sets
from coterie.evaluation.candidates import CANDIDATES, Candidate, named, simplest
from coterie.evaluation.compare import AUTO, GROUPS, differences_of, verdict_of
from coterie.evaluation.held_out import judged, sums_of
from coterie.evaluation.policy_values import (
    Asked,
    PolicyValues,
    bounds_of,
    notes_on,
    policy_values,
    values_of,
)
from coterie.evaluation.predict import predict
from coterie.evaluation.rows import LoggedRows, rows_of
from coterie.evaluation.run import ALL, FEW, UNSEEN, EvaluationRun, Trial, Value, Verdict
from coterie.evaluation.scores import Tally, calibration_of, groups_of, scores_of
from coterie.evaluation.splits import Split, backward_steps, folds_of, splits_of
from coterie.evaluation.tuning import Inner, inner_of, noise_of, quietly_fitted, tune
from coterie.logs import Logs
from coterie.model import Model
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

FRACTIONS = (0.1, 0.3, 1.0)
_FEW_USERS = 30
_CUTS, _FINAL_CUTS = 3, 5  # most inner cuts, of a training part and for the model that is kept
_ROWS_OF_CUTS = 50_000  # rows of a training part above which it is cut once


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to compare.

    Parameters
    ----------
    algorithms : list of str
        Names in `coterie.evaluation.candidates`; all of them unless named.
    split : "time", "random" or "users"
        Train on the past and judge by the future; hold out rows within each user; or hold out users.
        None takes "time" if the log has a time column and "random" if not.
    splits, share : int, float
        How many splits, and the share of the log that is held out.
    fractions : list of float
        Shares of the training part that are learned from, for learning curves; the largest one decides.
    few : float
        Users with fewer training rows are the group "few".
    metric : "auto", "scaled_error", "squared_error", "log_likelihood" or "choice"
        What the verdict goes by; see `compare.verdict_of`.
    choice_size : int
        Held-out rows to choose among.
    sign : -1, 0 or 1
        Whether the width is subtracted from the estimate when deciding, left out, or added.
    clip : float, optional
        Largest weight of the clipped off-policy estimators; without it nothing is clipped.
    confidence : float
        Level of the intervals.
    seed : int
        Of splits, tuning and resampling.
    """

    algorithms: Sequence[str] = tuple(CANDIDATES)
    split: Literal["time", "random", "users"] | None = None
    splits: int = 5
    share: float = 0.2
    fractions: Sequence[float] = FRACTIONS
    few: float = 20.0
    metric: str = AUTO
    choice_size: int = 5
    sign: Literal[-1, 0, 1] = 0
    clip: float | None = None
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        named(self.algorithms)
        checks.one_of("split", self.split, (None, "time", "random", "users"))
        checks.at_least("splits", self.splits, 1)
        checks.probability("share", self.share)
        if not self.fractions or not all(0 < checks.number("a fraction", f) <= 1 for f in self.fractions):
            raise ParameterError(f"fractions are {list(self.fractions)}; give numbers above 0 and at most 1")
        checks.at_least("few", self.few, 0)
        checks.one_of(
            "metric", self.metric, (AUTO, "scaled_error", "squared_error", "log_likelihood", "choice")
        )
        checks.at_least("choice_size", self.choice_size, 2)
        checks.one_of("sign", self.sign, (-1, 0, 1))
        if self.clip is not None:
            checks.positive("clip", self.clip)
        checks.probability("confidence", self.confidence)


@dataclass(eq=False)
class _Work:
    """What is gathered on the way through the splits."""

    tally: Tally
    values: PolicyValues | None = None
    alike: Alike | None = None
    resampled: bool = False
    trials: list[Trial] = field(default_factory=list)
    untuned: int = 0
    splits: int = 0


def evaluate(logs: Logs, plan: Plan | None = None, *, progress: Progress = silent) -> EvaluationRun:
    """Run that compares algorithms on a log.

    Examples
    --------
    >>> from coterie.worlds import Synthetic
    >>> drawn = Synthetic(n_users=30, n_clusters=1, dim=3, noise=0.5).draw(n_rows=600, rng=0)
    >>> run = evaluate(drawn.logs, Plan(algorithms=["independent", "pooled"], fractions=[1.0]))
    >>> run.verdict.winner
    'pooled'
    """
    plan = plan or Plan()
    rows = rows_of(logs, progress)
    return evaluate_rows(rows, plan, progress=progress)


def evaluate_rows(rows: LoggedRows, plan: Plan, *, progress: Progress = silent) -> EvaluationRun:
    """The same for rows that have been read."""
    _require_enough(rows)
    rng = np.random.default_rng(plan.seed)
    way = plan.split or ("time" if rows.time is not None else "random")
    tally = Tally(len(rows.users), judged_share=1 / folds_of(plan.share))
    work = _Work(tally, policy_values(rows), _alike(rows, plan), resampled=way == "random")
    candidates = named(plan.algorithms)
    for done, split in enumerate(splits_of(rows, way, int(plan.splits), plan.share, rng)):
        progress("evaluating splits", done, plan.splits)
        _judge_split(rows, split, candidates, plan, work, rng)
        work.splits += 1
    progress("evaluating splits", plan.splits, plan.splits)
    _fit_everything(rows, plan, work, progress)
    return _finished(rows, plan, way, work, rng)


def _alike(rows: LoggedRows, plan: Plan) -> Alike | None:
    """Sets of actions to decide among, where it matters whether two algorithms decide alike."""
    if plan.metric != AUTO or len(plan.algorithms) == 1:
        return None
    return Alike(Sets.drawn(rows, np.random.default_rng([int(plan.seed), SETS])))


def _fit_everything(rows: LoggedRows, plan: Plan, work: _Work, progress: Progress) -> None:
    """Let each algorithm, fitted on everything, decide; users without a row when judged are never seen."""
    if work.alike is None:
        return
    seen = np.nan_to_num(work.tally.mean_count(max(work.tally.fractions))) > 0
    stats, at = rows.statistics(np.ones(len(rows)))
    for done, (name, algorithm) in enumerate(_tuned_on_everything(rows, stats, plan.algorithms, plan)):
        progress("fitting on everything", done, len(plan.algorithms))
        work.alike.add(name, quietly_fitted(algorithm, stats), np.where(seen, at, -1))
    progress("fitting on everything", len(plan.algorithms), len(plan.algorithms))


def fitted_winner(rows: LoggedRows, run: EvaluationRun, plan: Plan) -> Model:
    """The verdict's winner, or the simplest one that the data cannot tell from it, fitted on everything."""
    verdict = run.verdict
    return fitted_candidate(rows, verdict.winner or simplest(verdict.candidates), plan)


def fitted_candidate(rows: LoggedRows, name: str, plan: Plan) -> Model:
    """Algorithm of this name fitted on all rows, its settings tuned once more, by several inner cuts."""
    stats, _ = rows.statistics(np.ones(len(rows)))
    _, algorithm = next(_tuned_on_everything(rows, stats, [name], plan))
    model: Model = algorithm.fit(stats)
    return model


def _tuned_on_everything(
    rows: LoggedRows, stats: UserStatistics, names: Sequence[str], plan: Plan
) -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(plan.seed)
    everything = np.ones(len(rows), dtype=bool)
    inner = _inner_cuts(rows, Split(0, everything, ~everything, np.zeros(len(rows))), 1.0, rng, _FINAL_CUTS)
    for name in names:
        tuned = tune(CANDIDATES[name], inner, plan.sign)
        yield name, CANDIDATES[name].algorithm(tuned.settings, noise_of(stats), plan.sign)


def _inner_cuts(
    rows: LoggedRows, split: Split, fraction: float, rng: np.random.Generator, most: int = _CUTS
) -> list[Inner]:
    """Inner cuts of a training part: several where it is small and chance weighs, one where it is large."""
    in_part = max(int(np.count_nonzero(split.part(fraction))), 1)
    number = min(most, max(1, round(_ROWS_OF_CUTS / in_part)))
    cuts = (inner_of(rows, *split.inner(fraction, rng), rng) for _ in range(number))
    return [cut for cut in cuts if cut is not None]


def _require_enough(rows: LoggedRows) -> None:
    """Refuse logs that nothing can be learned from."""
    n, dim = rows.action.shape
    if n <= dim:
        raise LogError(f"the log has {n} rows and actions have {dim} coordinates; give more rows than that")
    if float(rows.reward.min()) == float(rows.reward.max()):
        raise LogError(
            f"every reward is {rows.reward[0]:g}, so there is nothing to tell good actions from bad; "
            "give a log with at least two different rewards"
        )


def _judge_split(
    rows: LoggedRows,
    split: Split,
    candidates: Sequence[Candidate],
    plan: Plan,
    work: _Work,
    rng: np.random.Generator,
) -> None:
    for fraction in plan.fractions:
        part = split.part(fraction)
        if not (part * rows.weights).any():
            continue
        on = judged(rows, split.test, part, plan.choice_size)
        work.tally.add_count(fraction, on.count, on.fixed["rows"])
        inner = _inner_cuts(rows, split, fraction, rng)
        work.untuned += not inner
        stats, at = rows.statistics(part)
        noise = noise_of(stats)
        where, action = at[on.user], rows.action[on.row]
        models: dict[str, tuple[float, Model]] = {}
        for candidate in candidates:
            tuned = tune(candidate, inner[: candidate.cuts], plan.sign)
            model = quietly_fitted(candidate.algorithm(tuned.settings, noise, plan.sign), stats)
            sums = sums_of(predict(model, where, action), tuned.spread, on)
            work.tally.add(candidate.name, fraction, sums)
            if work.resampled and fraction == max(plan.fractions):
                work.tally.add_part(candidate.name, sums)
            work.trials += tuned.rows(candidate.name, split.number, fraction)
            models[candidate.name] = tuned.log_likelihood, model
        if work.values is not None and fraction == max(plan.fractions):
            likeliest = max(models.values(), key=lambda one: one[0])[1]
            asked = Asked(on.row, where, action, on.reward)
            work.values.add({name: model for name, (_, model) in models.items()}, likeliest, asked)


def _finished(rows: LoggedRows, plan: Plan, way: str, work: _Work, rng: np.random.Generator) -> EvaluationRun:
    """Scores, differences, verdicts, and what a reader should know."""
    tally = work.tally
    full = max(tally.fractions)
    count = tally.mean_count(full)
    groups = groups_of(count, plan.few)
    differences = tuple(differences_of(tally, groups, plan.confidence, rng, work.alike))
    found = (verdict_of(g, plan.algorithms, differences, plan.metric) for g in GROUPS if g in groups)
    verdicts = tuple(verdict for verdict in found if verdict is not None)
    scores = tuple(scores_of(tally, groups, plan.confidence, rng))
    counts = _counts(rows, work, groups)
    notes = [*_notes(rows, plan, way, work, counts, verdicts)]
    values: tuple[Value, ...] = ()
    if work.values is not None and work.values.gathered:
        bounds = bounds_of(rows, plan.confidence, plan.clip)
        values = tuple(values_of(work.values, bounds, rng))
        notes += notes_on(work.values, bounds)
    elif rows.propensity is not None:
        notes.append(
            "Propensities are named and the candidate sets are not, so what else could have been chosen is "
            "not known and there are no off-policy values; name the sets by candidates=."
        )
    return EvaluationRun(
        settings={
            **asdict(plan),
            "split": way,
            "algorithms": list(plan.algorithms),
            "fractions": list(plan.fractions),
        },
        counts=counts,
        notes=tuple(notes),
        verdicts=verdicts,
        scores=scores,
        differences=differences,
        calibration=tuple(calibration_of(tally, plan.confidence, rng)),
        values=values,
        trials=tuple(work.trials),
        users=_per_user(rows, tally),
    )


def _counts(rows: LoggedRows, work: _Work, groups: dict[str, Any]) -> dict[str, int]:
    return {
        "rows": len(rows),
        "users": len(rows.users),
        "dim": int(rows.action.shape[1]),
        "splits": work.splits,
        "judged_users": len(groups.get(ALL, ())),
        "few_users": len(groups.get(FEW, ())),
        "unseen_users": len(groups.get(UNSEEN, ())),
        "never_judged_users": len(rows.users) - len(groups.get(ALL, ())),
        "rows_before_an_earlier_one": backward_steps(rows),
        **{f"dropped: {kind}": n for kind, n in rows.dropped.items()},
    }


def _notes(
    rows: LoggedRows, plan: Plan, way: str, work: _Work, counts: dict[str, int], verdicts: Sequence[Verdict]
) -> Iterator[str]:
    """Sentences that a reader should not miss, each with its number."""
    for kind, n in rows.dropped.items():
        yield f"{n} rows were left out: {kind}."
    if back := counts["rows_before_an_earlier_one"]:
        yield f"{back:,} rows are earlier than the row before them; the log was put into the order of time."
    if way == "time" and work.splits < plan.splits:
        yield f"Times repeat so much that only {work.splits} of {plan.splits} splits could be made."
    if n := counts["never_judged_users"]:
        yield f"{n:,} users have no row in any judged part, so no score is about them."
    if n := counts["unseen_users"]:
        yield f"{n:,} users have rows in the judged parts alone: they are judged as users never seen."
    if work.untuned:
        yield f"{work.untuned} training parts were too small to tune in; the settings there are the defaults."
    if not work.tally.sums[work.tally.algorithms[0], work.tally.fractions[0]]["choice_rows"].any():
        yield "No user has two judged rows in a split, so the value of choosing is not defined (null)."
    if missing := set(_told(counts)) - {verdict.group for verdict in verdicts}:
        groups = " and ".join(sorted(missing))
        yield f"The group {groups} has fewer than two users, so nothing is compared in it."
    if len(rows.users) < _FEW_USERS:
        there = "There is 1 user" if len(rows.users) == 1 else f"There are {len(rows.users)} users"
        yield (
            f"{there}, and users are the sampling unit: intervals are wide, and "
            "they are reliable from about 30 users on."
        )


def _told(counts: dict[str, int]) -> Iterator[str]:
    """Groups that have users."""
    for group, name in ((ALL, "judged_users"), (FEW, "few_users"), (UNSEEN, "unseen_users")):
        if counts[name]:
            yield group


def _per_user(rows: LoggedRows, tally: Tally) -> dict[str, Any]:
    """One row per user, algorithm and fraction; a mean is null where the user has no such row."""
    import pyarrow as pa

    parts = []
    for (algorithm, fraction), sums in tally.sums.items():
        some = np.flatnonzero(sums["rows"] > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            choice = sums["choice"][some] / sums["choice_rows"][some]
        parts.append({
            "user": rows.users[some],
            "algorithm": np.full(len(some), algorithm),
            "fraction": np.full(len(some), fraction),
            "count": tally.mean_count(fraction)[some],
            "rows": sums["rows"][some],
            "squared_error": sums["squared_error"][some] / sums["rows"][some],
            "choice": choice,
            "choice_rows": sums["choice_rows"][some],
        })  # fmt: skip
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    whole["choice"] = pa.array(whole["choice"], from_pandas=True)
    return whole
