"""One self-contained page: verdicts, tables and figures, with the published values beside ours.

Takes: a `Report`: claims, table rows, improvements, winners, figures already written, notes, provenance.
Gives: index.html, which opens from disk without a network.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from coterie.experiments.claims import Claim
from coterie.experiments.regimes import Winner
from coterie.experiments.settings import SCARCE, SUFFICIENT
from coterie.experiments.tables import PAPER_METHODS, ImprovementRow, TableRow

TITLES = {
    "synthetic": "Synthetic",
    "yelp": "Yelp",
    "movielens": "MovieLens",
    "stand-in": "Stand-in world: no real ratings, users scattered like MovieLens'",
}
_NEAR = 0.25
_SMALL = 0.01


@dataclass(frozen=True)
class Report:
    """What the page shows; `notes` are sentences on what was left out and why."""

    rows: Sequence[TableRow]
    gains: Sequence[ImprovementRow] = ()
    claims: Sequence[Claim] = ()
    winners: Sequence[Winner] = ()
    figures: Sequence[tuple[str, Path]] = ()
    notes: Sequence[str] = ()
    provenance: dict[str, Any] = field(default_factory=dict)


def write(path: Path, report: Report) -> None:
    """Write the page."""
    datasets = list(dict.fromkeys(row.dataset for row in report.rows))
    parts = [
        "<h1>The paper's experiments</h1>",
        *(f'<p class="note">{_text(note)}</p>' for note in report.notes),
    ]
    if report.claims:
        parts += ["<h2>What was claimed, and what was seen</h2>", *map(_claim, report.claims)]
    for sizes, title in ((SUFFICIENT, "Sufficient data"), (SCARCE, "Insufficient data")):
        shown = [_table(dataset, report.rows, sizes) for dataset in datasets]
        if any(shown):
            parts += [f"<h2>{title}</h2>", _READING, *shown]
    if report.gains:
        parts += ["<h2>Improvements with insufficient data</h2>", _GAINS, _gains(report.gains)]
    if report.winners:
        parts += ["<h2>Which algorithm when</h2>", _winners(report.winners)]
    if report.figures:
        parts += ["<h2>Figures</h2>", *(_figure(text, file) for text, file in report.figures)]
    parts += [
        "<h2>Provenance</h2>",
        _told(report.provenance),
    ]
    style = files("coterie.experiments").joinpath("page.css").read_text()
    body = "\n".join(parts)
    path.write_text(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>Coterie: the paper</title>"
        f"<style>{style}</style></head><body>\n{body}\n</body></html>\n"
    )


_READING = (
    "<p>Mean suboptimality gap over seeds, equal service, random logging. Below it, where the paper has the "
    "row, the published value and ours divided by it. The rows under the line are not the paper's; they are "
    "what an honest comparison needs.</p>"
)
_GAINS = (
    "<p>Mean improvement in percent over sizes from 20k to 100k and both distributions, over Off-CLUB and "
    "over the best of the other baselines of the paper (named), with the published numbers.</p>"
)


def _text(value: object) -> str:
    return html.escape(str(value))


def _claim(claim: Claim) -> str:
    """A claim with its verdict; exceptions folded."""
    verdict = '<b class="near">holds</b>' if claim.holds else '<b class="far">does not hold</b>'
    more = "".join(f"<li>{_text(one)}</li>" for one in claim.exceptions)
    folded = (
        f"<details><summary>{_exceptions(len(claim.exceptions))}</summary><ul>{more}</ul></details>"
        if more
        else ""
    )
    return f"<div class='claim'>{verdict} {_text(claim.text)}: {_text(claim.seen)}.{folded}</div>"


def _exceptions(n: int) -> str:
    return "1 exception" if n == 1 else f"{n} exceptions"


def _figure(text: str, file: Path) -> str:
    """Figure drawn into the page: an SVG file without its XML declaration, ids made its own."""
    drawing = file.read_text()
    drawing = drawing[drawing.index("<svg") :]
    for mark in ('id="', 'href="#', "url(#"):
        drawing = drawing.replace(mark, f"{mark}{file.stem}-")
    return f"<figure>{drawing}<figcaption>{_text(text)}</figcaption></figure>"


def _table(dataset: str, rows: Sequence[TableRow], wanted: Sequence[int]) -> str:
    mine = {(row.method, row.dataset_size): row for row in rows if row.dataset == dataset}
    sizes = [size for size in wanted if any(key[1] == size for key in mine)]
    if not sizes:
        return ""
    methods = list(dict.fromkeys(method for method, size in mine if size in sizes))
    head = "".join(f"<th>{size // 1000:,}k</th>" for size in sizes)
    lines, ours = [], False
    for method in methods:
        first = method not in PAPER_METHODS and not ours
        ours = ours or first
        cells = "".join(_cell(mine.get((method, size))) for size in sizes)
        lines.append(f"<tr{' class=line' if first else ''}><td>{_text(method)}</td>{cells}</tr>")
    return f"<h3>{_text(TITLES[dataset])}</h3><table><tr><th>method</th>{head}</tr>{''.join(lines)}</table>"


def _cell(row: TableRow | None) -> str:
    if row is None:
        return "<td></td>"
    error = f"standard error {row.standard_error:.2g}"
    if row.published is None or row.ratio is None:
        return f'<td title="{error}">{row.suboptimality_gap:.6f}</td>'
    kind = "near" if abs(row.ratio - 1) <= _NEAR else "far"
    return (
        f'<td title="{_text(row.verdict)}; {error}">{row.suboptimality_gap:.6f}<br>'
        f'<span class="{kind}">{row.published:.6f} · ×{_ratio(row.ratio)}</span></td>'
    )


def _ratio(ratio: float) -> str:
    """Two decimals, or one digit where these would be zero."""
    return f"{ratio:.2f}" if ratio >= _SMALL else f"{ratio:.1g}"


def _gains(gains: Sequence[ImprovementRow]) -> str:
    head = ("logging", "data set", "method", "over Off-CLUB", "published", "over the best other", "published",
            "verdict")  # fmt: skip
    return _rows(
        head,
        [
            (
                row.logging,
                row.dataset,
                row.method,
                f"{row.versus_off_club_percent:.1f}",
                f"{row.published_versus_off_club}",
                f"{row.versus_best_other_baseline_percent:.1f} ({row.best_other})",
                f"{row.published_versus_best_other}",
                row.verdict,
            )
            for row in gains
        ],
    )


def _winners(found: Sequence[Winner]) -> str:
    """Winners by size; a tie is said."""
    head = ("size", "true gap", "least gap", "", "second", "")
    return _rows(
        head,
        [
            (
                f"{one.size // 1000}k",
                "known" if one.gap_known else "unknown",
                one.sentence,
                f"{one.gap:.6f}",
                one.second,
                f"{one.second_gap:.6f}",
            )
            for one in found
        ],
    )


def _told(provenance: dict[str, Any]) -> str:
    """Names and words, both from the left."""
    lines = "".join(
        f"<tr><td>{_text(name)}</td><td>{_text(value)}</td></tr>" for name, value in provenance.items()
    )
    return f'<table class="told">{lines}</table>'


def _rows(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """A table of text."""
    top = "".join(f"<th>{_text(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in line)}</tr>" for line in lines)
    return f"<table><tr>{top}</tr>{body}</table>"
