"""An evaluation as a page shows it.

Takes: an `EvaluationRun`.
Gives: its tables as plain values, and per user how well each algorithm did, in a `Payload`.
Next: `page`.
"""

from typing import Any

import msgspec
import numpy as np

from coterie.evaluation.run import EvaluationRun
from coterie.report.payload import Payload


def evaluated(run: EvaluationRun, payload: Payload) -> None:
    """Add what a page shows of an evaluation; the page leaves users out where it has no room for them."""
    tables = ("verdicts", "scores", "differences", "calibration", "values")
    payload.values["run"] = {
        "settings": dict(run.settings),
        "counts": dict(run.counts),
        "notes": list(run.notes),
        **{name: [msgspec.to_builtins(row) for row in getattr(run, name)] for name in tables},
        "users": _users(run, payload),
    }


def _users(run: EvaluationRun, payload: Payload) -> dict[str, Any] | None:
    """Ids and algorithms of the per-user errors at the largest fraction, the errors themselves packed."""
    if not len(run.users.get("user", ())):
        return None
    last = run.users["fraction"] == run.users["fraction"].max()
    ids, at = np.unique(run.users["user"][last], return_inverse=True)
    names, which = np.unique(run.users["algorithm"][last].astype(str), return_inverse=True)
    for name, column in (("run_error", "squared_error"), ("run_rows", "rows")):
        matrix = np.zeros((len(ids), len(names)))
        matrix[at, which] = run.users[column][last]
        payload.exact(name, matrix) if name == "run_rows" else payload.rounded(
            name, matrix, bits=16, scale="log"
        )
    return {"ids": ids.tolist(), "algorithms": names.tolist()}
