"""A small log, and the sums that it must give, worked out by NumPy row by row."""

from typing import Any

import numpy as np
import pyarrow as pa

import coterie as ct

USERS = [7, 3, 7, 9, 3, 7]
X = [0.5, 1.0, -0.25, 0.0, 0.75, 2.0]
Y = [1.0, 0.0, 0.5, -1.5, 0.25, 0.125]
REWARD = [1.0, 0.0, 2.5, -1.0, 0.5, 0.25]
WEIGHT = [1.0, 2.0, 0.5, 1.0, 0.0, 3.0]
TABLE = pa.table({"u": USERS, "x": X, "y": Y, "r": REWARD, "w": WEIGHT, "unused": ["?"] * 6})
LISTS = pa.table({"u": USERS, "f": [list(pair) for pair in zip(X, Y, strict=True)], "r": REWARD})
TEXT = ["bob", "élan", "bob", "", "élan", "bob"]
LARGE = [1, 2**63 + 5, 1, 2**64 - 1, 2**63 + 5, 1]
NAMED: dict[str, Any] = {"user": "u", "action": ["x", "y"], "reward": "r"}


def require_sums(
    stats: ct.UserStatistics,
    ids: list[Any] | None = None,
    weight: list[float] | None = None,
    one: bool = False,
) -> None:
    """Sums over the rows above, `ids` in place of the users; `one` appends the intercept."""
    who, weights = np.array(ids or USERS, dtype=object), np.array(weight or [1.0] * 6)
    action = np.column_stack([X, Y, np.ones(6)] if one else [X, Y])
    users = sorted(set(who.tolist()))
    assert stats.users.tolist() == users
    for at, user in enumerate(users):
        a, r, w = action[who == user], np.array(REWARD)[who == user], weights[who == user]
        assert stats.count[at] == w.sum()
        np.testing.assert_allclose(stats.moment[at], (w * r) @ a, rtol=1e-15)
        np.testing.assert_allclose(stats.gram[at], (a.T * w) @ a, rtol=1e-15)
        np.testing.assert_allclose(stats.reward_square[at], w @ r**2, rtol=1e-15)
