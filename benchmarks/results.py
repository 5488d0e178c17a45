"""Results as a table for people, as JSON for later, and inside `docs/performance.md`.

Takes: a `Result`.
Gives: text; with `write`, `results/NAME.json` and the section from `<!-- results:NAME -->` to `<!-- end -->`.
"""

import json
import re
from dataclasses import asdict
from datetime import UTC, datetime

from benchmarks.harness import ROOT, Claim, Measurement, Result, environment

RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"


def printed(result: Result) -> str:
    """Table, claims, settings and notes as Markdown that also reads well in a terminal."""
    claims = [_claim(claim) for claim in result.claims]
    settings = ", ".join(f"{name} {_number(value)}" for name, value in result.settings.items())
    parts = [*_tables(result.measurements), "\n".join(claims), f"Sizes: {settings}." if settings else ""]
    return "\n\n".join(part for part in [*parts, *result.notes] if part)


def machine() -> str:
    """One line on what the numbers were measured with."""
    known = environment()
    libraries = ", ".join(f"{name} {known[name]}" for name in known if name not in _MACHINE)
    return (
        f"{known['cpu']}, {known['cores']} cores, BLAS with {known['blas threads']} threads, "
        f"{known['system']}; {libraries}"
    )


_MACHINE = ("cpu", "cores", "blas threads", "system")


def write(result: Result) -> None:
    """Write the JSON file and refresh the marked section of the page."""
    RESULTS.mkdir(exist_ok=True)
    when = datetime.now(tz=UTC).strftime("%Y-%m-%d")
    content = {
        "name": result.name,
        "date": when,
        "environment": environment(),
        "settings": dict(result.settings),
        "measurements": [asdict(one) for one in result.measurements],
        "claims": [{**asdict(claim), "holds": claim.holds} for claim in result.claims],
        "notes": list(result.notes),
    }
    (RESULTS / f"{result.name}.json").write_text(json.dumps(content, indent=1) + "\n")
    section = f"{printed(result)}\n\nMeasured {when}: {machine()}."
    PAGE.write_text(refreshed(PAGE.read_text(), result.name, section))


def refreshed(page: str, name: str, section: str) -> str:
    """The page with the marked section replaced; a page without the marks is an error."""
    pattern = re.compile(rf"(<!-- results:{re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise ValueError(f"the page needs exactly one section <!-- results:{name} --> ... <!-- end -->")
    return pattern.sub(lambda marks: f"{marks[1]}\n{section}\n\n{marks[2]}", page)


def _tables(measurements: list[Measurement]) -> list[str]:
    """One table a case."""
    cases = dict.fromkeys(one.case for one in measurements)
    return [_table(case, [one for one in measurements if one.case == case]) for case in cases]


def _table(case: str, rows: list[Measurement]) -> str:
    columns = {
        case: [one.name for one in rows],
        "seconds": [_seconds(one.seconds) for one in rows],
        "ratio": ["" if one.ratio is None else f"{one.ratio:.3g}" for one in rows],
        "per second": [f"{one.work / one.seconds:,.0f}" if one.work else "" for one in rows],
        "peak MB": ["" if one.peak_mb is None else f"{one.peak_mb:,.0f}" for one in rows],
    }
    shown = {head: cells for head, cells in columns.items() if any(cells)}
    widths = {head: max(len(head), *map(len, cells)) for head, cells in shown.items()}

    def line(cells: list[str]) -> str:
        padded = [
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths.values(), strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * width if at == 0 else "-" * (width - 1) + ":") for at, width in enumerate(widths.values())]
    body = [line([cells[at] for cells in shown.values()]) for at in range(len(rows))]
    return "\n".join([line(list(shown)), line(rule), *body])


def _claim(claim: Claim) -> str:
    bound = "at least" if claim.at_least else "at most"
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    return f"- {claim.text}: {_number(claim.seen)}, claimed {bound} {_number(claim.limit)}: **{verdict}**"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 else f"{value:.3g}"


def _number(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
