"""The page: one HTML file with its style, its script and everything that it shows.

Takes: a fitted model, an evaluation, or both.
Gives: a file that opens from disk and asks no network for anything.
Next: `coterie.cli`.
"""

import html
import os
from importlib.resources import files

import coterie
from coterie.array_file import replace_file
from coterie.errors import ParameterError
from coterie.evaluation.run import EvaluationRun
from coterie.model import Model
from coterie.progress import Progress, silent
from coterie.report.evaluated import evaluated
from coterie.report.payload import Payload
from coterie.report.survey import survey

MOST_BYTES = 4_900_000  # a page is to stay below 5 MB
_OTHERS = 100_000  # of them for style and script
_OPTIONAL = (
    ("pooled_theta",),
    ("run_error", "run_rows"),
    ("responsibility",),
    ("theta",),
)  # left out in this order for that
_SCRIPTS = ("base", "axes", "charts", "cloud", "model", "user", "run", "main")


def report_page(
    model: Model | None = None,
    run: EvaluationRun | None = None,
    *,
    title: str | None = None,
    progress: Progress = silent,
) -> str:
    """HTML of a report on a model, an evaluation, or both.

    Examples
    --------
    >>> page = report_page(run=EvaluationRun(settings={}, counts={"rows": 10}), title="Nothing yet")
    >>> page.startswith("<!doctype html>"), "<title>Nothing yet</title>" in page
    (True, True)
    """
    if model is None and run is None:
        raise ParameterError("a report needs a model, an evaluation, or both; none was given")
    name = title or _title(model, run)
    payload = Payload({"title": name, "version": coterie.__version__, "model": None, "run": None})
    if model is not None:
        survey(model, payload, progress)
    if run is not None:
        evaluated(run, payload)
    parts = {
        "title": html.escape(name),
        "style": _asset("style.css"),
        "script": "\n".join(_asset(f"{script}.js") for script in _SCRIPTS),
        "payload": _fitting(payload),
    }
    page = _asset("page.html")
    for key, part in parts.items():
        page = page.replace(f"<!-- {key} -->", part)
    return page


def write_report(
    path: str | os.PathLike[str],
    model: Model | None = None,
    run: EvaluationRun | None = None,
    *,
    title: str | None = None,
    progress: Progress = silent,
) -> int:
    """Write the page in one step; its size in bytes."""
    data = report_page(model, run, title=title, progress=progress).encode()
    replace_file(path, lambda temporary: temporary.write_bytes(data))
    return len(data)


def _title(model: Model | None, run: EvaluationRun | None) -> str:
    if model is None:
        return "Which algorithm, on these logs?"
    what = f"{model.algorithm} for {model.n_users:,} users"
    return what if run is None else f"{what}, and how it was chosen"


def _fitting(payload: Payload) -> str:
    """Text of the payload, without what a page can do without where it would be too long."""
    text = payload.text()
    for names in _OPTIONAL:
        if len(text) > MOST_BYTES - _OTHERS and payload.drop(*names):
            text = payload.text()
    return text


def _asset(name: str) -> str:
    return (files("coterie.report") / "assets" / name).read_text(encoding="utf-8")
