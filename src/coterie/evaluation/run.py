r"""An evaluation as a value and as a folder: what was compared, how each did, what follows.

Takes: scores, paired differences, coverage, off-policy values, tuning trials, per-user sums.
Gives: `EvaluationRun`, saved to a folder and loaded from it.
Next: `coterie.cli`, which prints it, and the report, which draws it.

A folder holds `run.json` (format, settings, counts, notes, verdicts) and one Parquet file per table, each
with the fields of the struct below as columns: `scores.parquet` (`Score`), `differences.parquet`
(`Difference`), `calibration.parquet` (`Covered`), `values.parquet` (`Value`), `trials.parquet` (`Trial`)
and `users.parquet` (columns `user`, `algorithm`, `fraction`, `count`, `rows`, `squared_error`, `choice`,
`choice_rows`).

- `fraction` is the share of the training part that was learned from; a learning curve is the scores of
  one metric and one group, in the order of the fractions. `count` is the mean number of training rows.
- `group` is a set of users: "all", "few" (fewer training rows than `settings["few"]`), "unseen" (none), and
  "decile 1" (fewest training rows) to "decile 10".
- Metrics: "squared_error" (mean), "scaled_error" (the same after one factor on all predictions, which
  changes no greedy decision; the verdict goes by it unless another metric is asked for), "r2" (against
  predicting each user's own training mean), "log_likelihood" (mean, Gaussian), "choice" (mean reward of the
  row that the model would pick among held-out rows of the same user). Under "choice", `RANDOM` and
  `HINDSIGHT` stand beside the algorithms. Differences have "direction_error" too: a factor for each user.
- A number that is not defined is null, with the reason among the notes; nothing is ever NaN.
- Every interval is a bootstrap over users, at `settings["confidence"]` (0.95 unless set).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from coterie.errors import FileError, LogError

FORMAT = 1
RANDOM = "random pick"
HINDSIGHT = "best in hindsight"
ALL, FEW, UNSEEN = "all", "few", "unseen"

R = TypeVar("R", bound="msgspec.Struct")


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one algorithm for one group of users at one training fraction."""

    algorithm: str
    metric: str
    fraction: float
    group: str
    value: float | None
    low: float | None
    high: float | None
    count: float
    n_users: int
    n_rows: int


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How much better (above 0) `algorithm` is than `against`, user by user.

    `told_apart` says whether the interval, widened for the number of comparisons, leaves out 0; for the
    scaled error of five random splits or more it must do so over splits as well. `fitted_apart` is the share
    of sets of the log's actions that the two decide differently once fitted on everything; null where the
    verdict does not go by it, and for groups with too few sets.
    """

    algorithm: str
    against: str
    metric: str
    fraction: float
    group: str
    value: float
    low: float
    high: float
    told_apart: bool
    n_users: int
    fitted_apart: float | None = None


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """Share of held-out rewards inside the interval that was to hold a share of `level`."""

    algorithm: str
    fraction: float
    level: float
    covered: float
    low: float
    high: float
    n_users: int
    n_rows: int


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Off-policy value: reward per decision if the model had decided in place of the logging policy.

    `low` and `high` are the bootstrap over users, `bernstein` and `betting` lower bounds, null where the
    estimator has none; `effective` is the effective sample size; `clip` the largest weight allowed.
    """

    algorithm: str
    estimator: str
    value: float | None
    low: float | None
    high: float | None
    bernstein: float | None
    betting: float | None
    effective: float
    largest_weight: float
    mean_weight: float
    matched: int
    clip: float | None
    clipped: int
    n_rows: int
    n_users: int


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that were tried inside a training part, and their held-out log-likelihood per row."""

    algorithm: str
    split: int
    fraction: float
    settings: str
    log_likelihood: float
    chosen: bool


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What to use for a group of users; `winner` is null where the data cannot tell.

    `candidates` are the algorithms that the data cannot tell from the best one, it included. `same` are those
    that, fitted on everything, decide as the winner does, or as the simplest candidate.
    """

    group: str
    metric: str
    sentence: str
    winner: str | None
    candidates: tuple[str, ...]
    same: tuple[str, ...] = ()


_TABLES: dict[str, Any] = {
    "scores": Score,
    "differences": Difference,
    "calibration": Covered,
    "values": Value,
    "trials": Trial,
}


class _Head(msgspec.Struct):
    format: int
    settings: dict[str, Any]
    counts: dict[str, int]
    notes: list[str]
    verdicts: list[Verdict]


@dataclass(frozen=True, eq=False)
class EvaluationRun:
    """Everything that an evaluation found.

    `settings` are plain values (among them `algorithms`, `split`, `splits`, `fractions`, `confidence`, `few`,
    `metric`, by which the verdict goes); `counts` are rows and users read, used and left out; `notes` are
    sentences that a reader should not miss.

    Examples
    --------
    >>> import tempfile
    >>> told = {"group": "all", "metric": "choice", "sentence": "Use pooled."}
    >>> verdict = Verdict(**told, winner="pooled", candidates=("pooled",))
    >>> run = EvaluationRun(settings={"splits": 5}, counts={"rows": 10}, verdicts=(verdict,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(folder)
    ...     EvaluationRun.load(folder).verdict.winner
    'pooled'
    """

    settings: Mapping[str, Any]
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    scores: tuple[Score, ...] = ()
    differences: tuple[Difference, ...] = ()
    calibration: tuple[Covered, ...] = ()
    values: tuple[Value, ...] = ()
    trials: tuple[Trial, ...] = ()
    users: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict on all users."""
        found = next((verdict for verdict in self.verdicts if verdict.group == ALL), None)
        if found is None:
            raise LogError(
                f"{self.counts.get('judged_users', 0)} user was judged, and comparing takes two users or "
                "more, so there is no verdict; name a single algorithm, or give a log of more users"
            )
        return found

    def curve(self, metric: str, group: str = ALL) -> dict[str, list[Score]]:
        """Learning curves: the scores of each algorithm, by rising fraction."""
        found: dict[str, list[Score]] = {}
        for score in sorted(self.scores, key=lambda score: score.fraction):
            if score.metric == metric and score.group == group:
                found.setdefault(score.algorithm, []).append(score)
        return found

    def save(self, folder: str | Path) -> None:
        """Write the folder; files of an earlier run there are replaced."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        place = Path(folder)
        if place.is_file():
            raise FileError(f"{str(folder)!r} is a file; name a folder to write the run to")
        place.mkdir(parents=True, exist_ok=True)
        for name, kind in _TABLES.items():
            rows = [msgspec.to_builtins(row) for row in getattr(self, name)]
            pq.write_table(pa.Table.from_pylist(rows, schema=_schema(kind)), place / f"{name}.parquet")
        pq.write_table(pa.table(dict(self.users)), place / "users.parquet")
        head = _Head(FORMAT, dict(self.settings), dict(self.counts), list(self.notes), list(self.verdicts))
        (place / "run.json").write_bytes(msgspec.json.format(msgspec.json.encode(head)) + b"\n")

    @classmethod
    def load(cls, folder: str | Path) -> "EvaluationRun":
        """Run that a folder holds."""
        import pyarrow.parquet as pq

        place = Path(folder)
        if not (place / "run.json").is_file():
            raise FileError(
                f"{str(folder)!r} holds no evaluation (no run.json); make one by 'coterie evaluate'"
            )
        head = _head(place / "run.json")
        missing = [name for name in (*_TABLES, "users") if not (place / f"{name}.parquet").is_file()]
        if missing:
            raise FileError(f"{str(folder)!r} has no {missing[0]}.parquet; evaluate again to make it whole")
        tables = {name: _rows(place / f"{name}.parquet", kind) for name, kind in _TABLES.items()}
        users = pq.read_table(place / "users.parquet")
        return cls(
            settings=head.settings,
            counts=head.counts,
            notes=tuple(head.notes),
            verdicts=tuple(head.verdicts),
            users={name: users.column(name).to_numpy() for name in users.column_names},
            **tables,
        )


def _head(file: Path) -> _Head:
    try:
        found = msgspec.json.decode(file.read_bytes())
        number = found["format"]
        if number != FORMAT:
            raise FileError(
                f"{str(file)!r} has format {number}; this version reads format {FORMAT}: evaluate again"
            )
        return msgspec.convert(found, _Head)
    except (msgspec.MsgspecError, KeyError, TypeError) as failure:
        raise FileError(f"{str(file)!r} describes no evaluation: {failure}; evaluate again") from failure


def _rows(file: Path, kind: type[R]) -> tuple[R, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return tuple(msgspec.convert(pq.read_table(file).to_pylist(), list[kind]))  # type: ignore[valid-type]
    except (msgspec.ValidationError, pa.ArrowInvalid) as failure:
        raise FileError(f"{str(file)!r} is no table of an evaluation: {failure}; evaluate again") from failure


def _schema(kind: type[msgspec.Struct]) -> Any:
    """Arrow schema of a struct's fields."""
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), bool: pa.bool_(), float: pa.float64()}
    fields = msgspec.structs.fields(kind)
    return pa.schema([(one.name, types.get(one.type, pa.float64())) for one in fields])


def table(rows: Sequence[msgspec.Struct]) -> list[dict[str, Any]]:
    """Rows as plain dictionaries, for printing."""
    return [msgspec.to_builtins(row) for row in rows]


def number(value: float | np.floating[Any]) -> float | None:
    """The value, or None where it is not a finite number.

    >>> number(np.float64("nan")) is None, number(1.5)
    (True, 1.5)
    """
    return float(value) if np.isfinite(value) else None
