"""Every algorithm that `coterie.algorithms` names, and one small log that all contract tests fit them on."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

import coterie as ct
from coterie import algorithms

CLASSES = [one for one in (getattr(algorithms, name) for name in algorithms.__all__) if hasattr(one, "fit")]
FIELDS = ("index", "estimate", "width", "score", "pooled_count", "pooled_users", "seen")
LABELS = {
    "ann": "x",
    "bob": "x",
    "cat": "y",
    "dan": "y",
    "eve": "y",
    "void": "x",
    1: 0,
    2: 0,
    3: 1,
    4: 1,
    5: 1,
    9: 0,
}
IDS: dict[str, list[Any]] = {
    "text": ["ann", "bob", "cat", "dan", "eve", "void"],
    "integers": [1, 2, 3, 4, 5, 9],
}
ACTIONS = np.array([[0.6, 0.2, 0.1], [0.1, 0.7, 0.3], [0.6, 0.2, 0.1], [-0.2, 0.1, 0.9]])


def make(algorithm: Any, **settings: Any) -> Any:
    """The algorithm with its defaults, and labels where it is told them."""
    told = {"labels": LABELS} if "labels" in {field.name for field in fields(algorithm)} else {}
    return algorithm(**told, **settings)


def logs_of(kind: str = "text", *, intercept: bool = False) -> ct.Logs:
    """Two groups of users with low noise, and the last user without data."""
    rng = np.random.default_rng(5)
    ids = IDS[kind]
    user = np.repeat(np.array(ids), [40, 30, 40, 5, 1, 1])
    action = rng.uniform(-0.5, 0.5, (len(user), 3))
    theta = np.where(np.isin(user, ids[:2])[:, np.newaxis], [0.8, 0.1, 0.0], [-0.3, 0.2, 0.7])
    reward = np.einsum("ij,ij->i", action, theta) + 0.01 * rng.standard_normal(len(user))
    order = rng.permutation(len(user))
    arrays = (user[order], action[order], reward[order])
    return ct.Logs.from_arrays(*arrays, weight=user[order] != ids[-1], intercept=intercept)


def fitted(algorithm: Any, kind: str = "text", **settings: Any) -> Any:
    return make(algorithm, confidence=ct.Confidence(noise=0.01), **settings).fit(ct.summarize(logs_of(kind)))


def obeys(algorithm: Any, law: str) -> bool:
    """Whether the class does not list the law among those that it does not obey."""
    listed = " ".join(algorithm.__doc__.partition("Laws that it does not obey:")[2].split())
    return law not in listed
