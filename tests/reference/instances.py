"""Random instances, each from one integer seed: the rows for the literal algorithms, the same rows as a log,
and one choice of every parameter for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import coterie as ct
from tests.reference.literal import Array, Rows, Settings, User

Rng = np.random.Generator
CLOSE = 1e-9  # comparisons nearer than this are left out

# Every parameter of both implementations; Hypothesis, or a seed, takes one of each. The small noises and
# the small alphas are what makes graphs that are neither complete nor empty.
CHOICES: dict[str, tuple[Any, ...]] = {
    "lam": (0.01, 0.1, 0.5, 1.0, 2.0),
    "delta": (0.001, 0.01, 0.2),
    "noise": (0.0, 0.001, 0.01, 0.1, 1.0),
    "theta_bound": (0.0, 0.01, 0.1, 1.0, 2.0),
    "regularity": (
        ("observed",),
        ("observed",),
        ("smoothed", 0.1),
        ("smoothed", 4.0),
        ("iid", 0.5),
        ("iid", 9.0),
    ),
    "alpha": (0.0, 0.1, 0.1, 0.5, 1.0, 1.0, 3.0),
    "gap": ("over", "over", "under", "under", 0.0, 0.2, 1.0, 1e6),
    "sharing": ("own", "mutual", "global"),
    "min_samples": ("theory", 0.0, 2.0, 20.0),
    "sign": (-1, 0, 1),
    "form": ("norm", "squared"),
    "scale": (0.0, 0.1, 1.0, 2.5),
    "proof": (False, True),
}
SEEDS = st.integers(0, 2**32 - 1)
SETTINGS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CHOICES.items()}).map(
    lambda chosen: Settings(**chosen)
)
_SHAPES = (  # users, dim, rows of the largest users: the literal loops over U * rows outer products
    (1, 1, 300), (1, 20, 200), (2, 1, 300), (2, 5, 300), (3, 2, 300), (3, 64, 150), (5, 3, 200), (6, 8, 100),
    (8, 1, 100), (8, 4, 150), (10, 2, 100), (12, 16, 60), (16, 3, 60), (20, 2, 60), (30, 3, 40), (60, 2, 20),
    (60, 5, 12),
)  # fmt: skip


@dataclass(frozen=True)
class Instance:
    """One user base: `rows` for the literal, in the ascending order of `ids`, and a log of the same rows."""

    ids: list[Any]
    labels: list[int]
    rows: Rows
    user: npt.NDArray[Any]
    action: Array
    reward: Array
    weight: Array
    unseen: Any

    @property
    def dim(self) -> int:
        return int(self.action.shape[1])

    def logs(self, scale: float = 1.0) -> ct.Logs:
        return ct.Logs.from_arrays(self.user, self.action * scale, self.reward, weight=self.weight)

    def stats(self) -> ct.UserStatistics:
        return ct.summarize(self.logs(), threads=1)


def settings_at(rng: Rng, **fixed: object) -> Settings:
    """Parameters by a generator, some of them fixed."""
    chosen = {name: values[rng.integers(len(values))] for name, values in CHOICES.items()}
    return Settings(**{**chosen, **fixed})


def instance(seed: int, n_users: int | None = None, *, most: int | None = None) -> Instance:
    """Clustered users, some identical, some without data, with one row, or with actions on a line."""
    rng = np.random.default_rng(seed)
    shapes = [shape for shape in _SHAPES if n_users is None or shape[0] == n_users]
    U, d, largest = shapes[rng.integers(len(shapes))]
    n_clusters = int(rng.integers(1, 5))
    centres = ball(rng, n_clusters, d)
    labels = rng.integers(0, n_clusters, U).tolist()
    spread = float(rng.choice([0.0, 0.001, 0.05]))
    rows = [
        user_rows(rng, centres[label], _count(rng, min(largest, most or largest)), spread) for label in labels
    ]
    for u in range(1, U):
        if rng.random() < 0.1:  # an identical twin
            rows[u], labels[u] = rows[u - 1], labels[u - 1]
    return as_instance(rng, rows, labels)


def as_instance(rng: Rng, rows: Rows, labels: list[int]) -> Instance:
    """The rows as a shuffled log, repeated ones partly as weights; users without rows get one of weight 0."""
    d = rows[0][0].shape[1]
    text = bool(rng.random() < 0.5)
    ids: list[Any] = [f"user {u:03d}" if text else 7 * u - 20 for u in range(len(rows))]
    user, action, reward, weight, repeated = [], [], [], [], []
    for name, (A, r) in zip(ids, rows, strict=True):
        times = rng.integers(1, 4, len(A)) if rng.random() < 0.2 else np.ones(len(A), dtype=np.int64)
        ghost = rng.random() < 0.2 or not len(A)  # a row of weight 0 is no row
        user += [name] * (len(A) + ghost)
        action += [*A, *[ball(rng, 1, d)[0]] * ghost]
        reward += [*r, *[99.0] * ghost]
        weight += [*times.tolist(), *[0] * ghost]
        repeated.append((np.repeat(A, times, axis=0), np.repeat(r, times)))
    order = rng.permutation(len(user))
    arrays = (np.array(action)[order], np.array(reward)[order], np.array(weight, dtype=np.float64)[order])
    return Instance(ids, labels, repeated, np.array(user)[order], *arrays, "nobody" if text else 10**6)


def user_rows(rng: Rng, theta: Array, count: int, spread: float) -> tuple[Array, Array]:
    """Actions of length at most 1, sometimes all on one line, and rewards with Gaussian noise."""
    A = ball(rng, count, len(theta))
    if count and rng.random() < 0.15:
        A = np.outer(rng.uniform(-1, 1, count), A[0])
    return A, A @ theta + spread * rng.standard_normal(count)


def ball(rng: Rng, n: int, d: int) -> Array:
    """Vectors (n, d) of length at most 1, most of them near 1."""
    vectors = rng.standard_normal((n, d))
    lengths = rng.random((n, 1)) ** 0.2
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * lengths)


def action_set(rng: Rng, d: int, size: int | None = None) -> Array:
    """Candidates, sometimes with a repeated one and with the zero vector."""
    actions = ball(rng, size or int(rng.integers(1, 9)), d) * float(rng.choice([1.0, 1.0, 3.0]))
    if len(actions) > 1 and rng.random() < 0.4:
        actions[-1] = actions[rng.integers(len(actions) - 1)]
    if rng.random() < 0.2:
        actions[rng.integers(len(actions))] = 0.0
    return actions


def confidence_of(settings: Settings) -> ct.Confidence:
    """The library's parameter object."""
    kind, *value = settings.regularity
    regularity = {"observed": ct.Observed, "smoothed": ct.Smoothed, "iid": ct.IID}[kind](*value)
    return ct.Confidence(settings.lam, settings.delta, settings.noise, settings.theta_bound, regularity)


def bonus_of(settings: Settings) -> ct.Bonus:
    """The library's parameter object."""
    prior = "proof" if settings.proof else "printed"
    return ct.Bonus(sign=settings.sign, form=settings.form, scale=settings.scale, prior=prior)  # type: ignore[arg-type]


def algorithms(settings: Settings, labels: list[int]) -> dict[str, Any]:
    """Every slot algorithm of the library with these parameters, by the name of its literal twin."""
    common: dict[str, Any] = {"confidence": confidence_of(settings), "bonus": bonus_of(settings)}
    alpha, gap = settings.alpha, {"gap": settings.gap, "sharing": settings.sharing}
    return {
        "off_c2lub": ct.OffC2LUB(graph_scale=alpha, min_samples=settings.min_samples, **gap, **common),  # type: ignore[arg-type]
        "off_club": ct.OffCLUB(graph_scale=alpha, **common),
        "independent": ct.Independent(**common),
        "pooled": ct.Pooled(**common),
        "oracle": ct.Oracle(labels, **common),
    }


def solid(everybody: Sequence[User], chosen: Settings) -> list[bool]:
    """Per user whether no comparison that her lenders rest on is a matter of rounding.

    The user who sets a gap ties with it exactly, margin 0 and no edge, whatever the rounding.
    """
    policy = isinstance(chosen.gap, str)
    gap_known = [user.gap_margin > CLOSE for user in everybody]
    if policy and chosen.sharing != "own":  # the gaps of others decide too
        gap_known = [all(gap_known[:-1]) and known for known in gap_known]
    margins = [
        all(m > CLOSE or (policy and m == 0 and v not in user.neighbours) for v, m in enumerate(user.margin))
        for user in everybody
    ]
    return [known and clear for known, clear in zip(gap_known, margins, strict=True)]


def _count(rng: Rng, largest: int) -> int:
    if (kind := rng.random()) < 0.2:
        return int(kind < 0.1)
    return int(np.exp(rng.uniform(0, np.log(largest + 1))))
