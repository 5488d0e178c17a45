"""Reports for tests: a small world fitted, an evaluation made by hand, and what a page carries."""

import base64
import gzip
import json
import re
import warnings
from functools import cache
from typing import Any

import numpy as np

import coterie as ct
from coterie.evaluation.run import Covered, Difference, EvaluationRun, Score, Value, Verdict
from coterie.model import Model
from coterie.worlds import Synthetic

KINDS = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "f4": np.float32}


@cache
def model(name: str = "OffC2LUB", n_users: int = 60) -> Model:
    """A model of users in three clusters, some with few rows, one of them named `<b>`."""
    rng = np.random.default_rng(2)
    world = Synthetic(n_users=n_users, n_clusters=3, dim=4, noise=0.2).world(rng)
    chance = rng.pareto(1.5, n_users) + 0.3
    drawn = world.draw(100 * n_users, rng, chance / chance.sum())
    ids = np.array([f"u{u}" for u in range(n_users)])
    ids[3] = "<b>"
    logs = ct.Logs.from_arrays(ids[drawn.user], drawn.action, drawn.reward)
    confidence = ct.Confidence(noise="estimate", ridge=1.1)
    if name == "Mixture":
        confidence = ct.Confidence(noise="estimate")
    extra: dict[str, Any] = (
        {} if name in {"Independent", "Pooled", "DBSCAN", "Mixture"} else {"graph_scale": 0.3}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)
        fitted: Model = getattr(ct, name)(confidence=confidence, **extra).fit(logs)
    return fitted


def evaluation() -> EvaluationRun:
    """An evaluation of two algorithms, made up: nobody measured these numbers."""
    names, groups = ("pooled", "off-c2lub"), ("all", "few", *(f"decile {k}" for k in range(1, 11)))
    return EvaluationRun(
        settings={"splits": 5, "few": 20, "confidence": 0.95, "metric": "squared_error", "algorithms": names},
        counts={"rows": 900, "users": 60},
        notes=("One note with <i>markup</i> in it.",),
        verdicts=(
            Verdict(
                group="all", metric="squared_error", sentence="For all users, use off-c2lub.",
                winner="off-c2lub", candidates=("off-c2lub",),
            ),
        ),
        scores=tuple(
            Score(
                algorithm=name, metric=metric, fraction=fraction, group=group, value=value,
                low=value - 0.1, high=value + 0.1, count=40 * fraction, n_users=60, n_rows=200,
            )
            for k, name in enumerate(names) for metric in ("squared_error", "choice")
            for fraction in (0.1, 0.3, 1.0) for group in groups for value in (1 + k - fraction / 2,)
        ),
        differences=(
            Difference(
                algorithm="off-c2lub", against="pooled", metric="squared_error", fraction=1.0, group="all",
                value=0.2, low=0.1, high=0.3, told_apart=True, n_users=60,
            ),
        ),
        calibration=tuple(
            Covered(
                algorithm=name, fraction=1.0, level=level, covered=level - 0.05, low=level - 0.1,
                high=level, n_users=60, n_rows=200,
            )
            for name in names for level in (0.5, 0.8, 0.95)
        ),
        values=tuple(
            Value(
                algorithm=name, estimator=estimator, value=0.4, low=0.3, high=0.5,
                bernstein=None, betting=0.2, effective=90.0, largest_weight=4.0, mean_weight=1.01, matched=80,
                clip=None, clipped=0, n_rows=200, n_users=60,
            )
            for name in names for estimator in ("snips", "ips")
        ),
        users={
            "user": np.array(["u1", "u1", "u2", "u2"]),
            "algorithm": np.array(["pooled", "off-c2lub"] * 2),
            "fraction": np.ones(4),
            "count": np.array([5.0, 5.0, 9.0, 9.0]),
            "rows": np.array([2, 2, 3, 3]),
            "squared_error": np.array([0.5, 0.25, 1.0, 2.0]),
        },
    )  # fmt: skip


def carried(page: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and arrays of a page, opened by other code than the page's own."""
    found = re.search(r'<script id="payload" type="text/plain">([A-Za-z0-9+/=]*)</script>', page)
    assert found is not None
    raw = gzip.decompress(base64.b64decode(found[1]))
    length = int.from_bytes(raw[:4], "little")
    head = json.loads(raw[4 : 4 + length])
    arrays = {name: _array(raw, 4 + length, **entry) for name, entry in head["arrays"].items()}
    return head["values"], arrays


def _array(
    raw: bytes, start: int, type: str, length: int, offset: int, low: float = 0.0, step: float | None = None,
    scale: str = "linear",
) -> Any:  # fmt: skip
    codes = np.frombuffer(raw, KINDS[type], length, start + offset)
    if step is None:
        return codes
    numbers = low + step * codes.astype(np.float64)
    if scale == "linear":
        return numbers
    top = 255 if type == "u1" else 65535
    special = np.where(codes == top, np.inf, 0.0)
    return np.exp(numbers, where=codes < top - 1, out=special)
