"""One self-contained page: tables and figures, with the published values and a verdict per row.

Takes: table rows, improvements, figures already written, provenance.
Gives: index.html, which opens from disk without a network.
"""

import html
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from coterie.experiments.settings import SUFFICIENT
from coterie.experiments.tables import ImprovementRow, TableRow


def write(
    path: Path,
    rows: Sequence[TableRow],
    gains: Sequence[ImprovementRow],
    figures: Sequence[tuple[str, Path]],
    provenance: dict[str, Any],
) -> None:
    """Write the page."""
    parts = [
        "<h1>The paper's experiments</h1>",
        f"<p>{html.escape(_line(provenance))}</p>",
        "<h2>Sufficient data: how near to the published tables?</h2>",
        "<p>Each cell: mean gap over seeds, the published value below it, and their ratio.</p>",
        *(_table(dataset, rows) for dataset in dict.fromkeys(row.dataset for row in rows)),
        "<h2>Improvements with scarce data</h2>",
        _gains(gains),
        *(_figure(text, file) for text, file in figures),
    ]
    body = "\n".join(parts)
    style = files("coterie.experiments").joinpath("page.css").read_text()
    path.write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Coterie: the paper</title>'
        f"<style>{style}</style></head><body>{body}</body></html>"
    )


def _figure(text: str, file: Path) -> str:
    """Figure drawn into the page: an SVG file without its XML declaration."""
    drawing = file.read_text()
    drawing = drawing[drawing.index("<svg") :]
    return f"<figure>{drawing}<figcaption>{html.escape(text)}</figcaption></figure>"


def _line(provenance: dict[str, Any]) -> str:
    return "; ".join(f"{name} {value}" for name, value in provenance.items())


def _table(dataset: str, rows: Sequence[TableRow]) -> str:
    mine = {(row.method, row.dataset_size): row for row in rows if row.dataset == dataset}
    sizes = [size for size in SUFFICIENT if any(key[1] == size for key in mine)]
    methods = list(dict.fromkeys(method for method, size in mine if size in sizes))
    head = "".join(f"<th>{size:,}</th>" for size in sizes)
    lines = [
        f"<tr><td>{method}</td>{''.join(_cell(mine.get((method, size))) for size in sizes)}</tr>"
        for method in methods
    ]
    return f"<h3>{dataset}</h3><table><tr><th>method</th>{head}</tr>{''.join(lines)}</table>"


def _cell(row: TableRow | None) -> str:
    if row is None:
        return "<td></td>"
    if row.published is None or row.ratio is None:
        return f"<td>{row.suboptimality_gap:.6f}</td>"
    kind = "near" if 0.75 <= row.ratio <= 1.25 else "far"  # noqa: PLR2004
    return (
        f'<td title="{html.escape(row.verdict)}">{row.suboptimality_gap:.6f}<br>'
        f'<span class="{kind}">{row.published:.6f} · ×{row.ratio:.2f}</span></td>'
    )


def _gains(gains: Sequence[ImprovementRow]) -> str:
    names = (
        "logging",
        "data set",
        "method",
        "over Off-CLUB %",
        "published",
        "over the best other %",
        "published",
    )
    lines = [
        f"<tr><td>{row.logging}</td><td>{row.dataset}</td><td>{row.method}</td><td>{row.versus_off_club_percent:.1f}"
        f"</td><td>{row.published_versus_off_club}</td><td>{row.versus_best_other_baseline_percent:.1f} "
        f"({row.best_other})</td><td>{row.published_versus_best_other}</td><td>{row.verdict}</td></tr>"
        for row in gains
    ]
    head = "".join(f"<th>{name}</th>" for name in (*names, "verdict"))
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"
