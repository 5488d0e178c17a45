"""What the mixture claims beside the paper's methods, and what was seen.

Takes: rows of `mixture`.
Gives: a table per data set, and a line per claim: claim, seen, verdict.
Paper: none.
Next: `docs/why-mixture.md`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from coterie.experiments.cell import Row

_UNFAIR = ("Oracle", "Knows_vectors", "From_vectors")
_NAMED = ("_noise", "_ellipsoid", "_validate")  # the paper's methods with an option that is not in the paper
_OURS = ("Mixture", "Mixture_LCB")
_MUCH = (20_000, 30_000)
_SCARCE = 20_000  # up to here knowing the vectors is the yardstick, above knowing who is whose
_TEN, _WORSE_THAN_VECTORS, _WORSE_THAN_ORACLE, _WORSE_THAN_BEST = 10.0, 1.3, 1.5, 1.01
_BETTER = {"movielens": (0.15, 0.25), "yelp": (0.15, 0.20)}  # at 5k, at 10k to 60k
_FIRST, _LAST = 5_000, 60_000

Means = dict[int, dict[str, float]]


def report(rows: Sequence[Row]) -> str:
    """Tables and claims as text."""
    lines = []
    for dataset in sorted({row.dataset for row in rows}):
        for distribution in sorted({row.distribution for row in rows}):
            some = [row for row in rows if (row.dataset, row.distribution) == (dataset, distribution)]
            if some:
                means = means_of(some)
                seeds = len({row.seed for row in some})
                lines += ["", f"{dataset}, {distribution}, {seeds} seeds", *_table(means)]
                lines += ["", *(claims(dataset, means) if distribution == "equal" else unlike(means))]
    return "\n".join(lines)


def means_of(rows: Iterable[Row]) -> Means:
    """Mean gap over seeds by size and method; the best fixed gap in hindsight is one row."""
    gaps: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        gaps[row.size][row.method].append(row.gap)
    found: Means = {}
    for size in sorted(gaps):
        means = {method: fmean(values) for method, values in gaps[size].items()}
        fixed = [means.pop(method) for method in list(means) if "@" in method]
        found[size] = means | ({"Off-C2LUB, best fixed gap": min(fixed)} if fixed else {})
    return found


def claims(dataset: str, means: Means) -> list[str]:
    """A line per claim that the rows can tell."""
    lines = []
    for size, row in means.items():
        ours, best = row["Mixture"], _papers_best(row)
        if dataset == "synthetic":
            yardstick = "Knows_vectors" if size <= _SCARCE else "Oracle"
            limit = _WORSE_THAN_VECTORS if size <= _SCARCE else _WORSE_THAN_ORACLE
            lines.append(_line(f"{size}: at most {limit:g} times {yardstick}", ours / row[yardstick], limit))
            if size in _MUCH:
                lines.append(
                    _line(f"{size}: a tenth of the best of the paper's methods", _TEN * ours / best, 1.0)
                )
            continue
        others = min(value for name, value in row.items() if name not in (*_OURS, *_UNFAIR))
        lines.append(_line(f"{size}: at most 1% worse than every other row", ours / others, _WORSE_THAN_BEST))
        if size <= _LAST:
            part = _BETTER[dataset][0 if size == _FIRST else 1]
            lines.append(_line(f"{size}: {part:.0%} better than the paper's best", ours / best, 1 - part))
    return lines


def unlike(means: Means) -> list[str]:
    """A line per claim where users are served unlike."""
    lines = []
    for size, row in means.items():
        ours = row["Mixture"]
        lines.append(_line(f"{size}: no worse than one Gaussian", ours / row["Gaussian_EB"], 1.0))
        lines.append(_line(f"{size}: no worse than the paper's best", ours / _papers_best(row), 1.0))
    return lines


def _papers_best(row: dict[str, float]) -> float:
    return min(
        value
        for name, value in row.items()
        if name.startswith(("Off-CLUB", "Off-C2LUB")) and not name.endswith(_NAMED)
    )


def _line(claim: str, seen: float, limit: float) -> str:
    return f"{claim:<58} seen {seen:8.3f}  limit {limit:6.3f}  {'holds' if seen <= limit else 'FAILS'}"


def _table(means: Means) -> list[str]:
    methods = dict.fromkeys(method for row in means.values() for method in row)
    head = f"{'':<30}" + "".join(f"{size:>11,}" for size in means)
    body = [
        f"{method:<30}"
        + "".join(f"{row[method]:>11.6f}" if method in row else f"{'':>11}" for row in means.values())
        for method in methods
    ]
    return [head, *body]
