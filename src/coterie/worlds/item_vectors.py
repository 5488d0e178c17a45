r"""Action vectors of items, learned from who rated what; and the log of the other ratings.

Takes: ratings by user, item and value, and which of them to learn the vectors from.
Gives: a log (user, item, reward) of the ratings that were not learned from, and the item table.
Next: `coterie.logs`, by `item=` and `items=`.

An item's vector must not have seen the rewards that it is judged by. So the ratings are cut in two:
one part teaches the vectors, the other is the log, of which an evaluation again learns from one part and is
judged by another.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.checks import at_least
from coterie.errors import LogError
from coterie.packed import FloatArray
from coterie.worlds.ratings import Ratings

_DENSE = 200  # users or items up to which all singular vectors are found at once
_SHRINK = 10.0  # ratings at the mean that every item, and every user, is taken to have besides


def item_vectors(ratings: Ratings, dim: int, n_items: int) -> tuple[FloatArray, float]:
    r"""Vectors (n_items, dim) of length at most 1, and the mean rating.

    The first coordinate is the item's own deviation from the mean, shrunk towards 0 where it has few
    ratings. The others are its coordinates in the first dim - 1 singular directions of what is left,
    (value - mean - item - user), each times the singular value, so that users' preferences are of one size
    in all directions. An item without a rating has the vector 0.

    Examples
    --------
    Two users, two items: item 0 is rated 4 and 4, item 1 2 and 2. The mean is 3, each item is 1 from it,
    shrunk by 2 / (2 + 10), and nothing is left over:

    >>> ratings = Ratings.of([0, 1, 0, 1], [0, 0, 1, 1], [4.0, 4.0, 2.0, 2.0])
    >>> vectors, mean = item_vectors(ratings, 1, 2)
    >>> vectors.tolist(), mean
    ([[1.0], [-1.0]], 3.0)
    """
    if not len(ratings.user):
        raise LogError("there are no ratings to learn item vectors from; give at least one")
    at_least("dim", dim, 1)
    mean = float(np.average(ratings.value, weights=ratings.number))
    left = ratings.value - mean
    item = _deviations(ratings.item, left, ratings.number, n_items)
    left = left - item[ratings.item]
    user = _deviations(ratings.user, left, ratings.number, int(ratings.user.max()) + 1)
    left = left - user[ratings.user]
    directions = _directions(ratings, left, dim - 1, n_items)
    vectors = np.column_stack([item, directions])
    longest = float(np.linalg.norm(vectors, axis=1).max())
    return vectors / longest if longest > 0 else vectors, mean


def log_and_items(
    user: Any, item: Any, rating: Any, learned: NDArray[np.bool_], *, dim: int, time: Any = None
) -> tuple[Any, Any]:
    """Arrow tables: the log of ratings that were not learned from, and the items' vectors.

    The log has columns `user`, `item`, `reward` (the rating less the mean of those learned from) and, if
    given, `time`; the items `item` and `vector`. `learned` (n,) marks the ratings that teach the vectors.

    Examples
    --------
    >>> log, items = log_and_items([1, 2, 1], [7, 7, 9], [5.0, 3.0, 4.0], np.array([1, 1, 0], bool), dim=1)
    >>> log.to_pylist(), items["item"].to_pylist()
    ([{'user': 1, 'item': 9, 'reward': 0.0}], [7, 9])
    """
    import pyarrow as pa

    ids, code = np.unique(np.asarray(item), return_inverse=True)
    users, values = np.asarray(user), np.asarray(rating, dtype=np.float64)
    who = np.unique(users, return_inverse=True)[1].astype(np.int64)
    teaching = Ratings(who[learned], code[learned].astype(np.int64), values[learned], np.ones(learned.sum()))
    vectors, mean = item_vectors(teaching, dim, len(ids))
    rest = ~learned
    log = {"user": users[rest], "item": np.asarray(item)[rest], "reward": values[rest] - mean}
    if time is not None:
        log["time"] = np.asarray(time)[rest]
    return pa.table(log), pa.table({"item": ids, "vector": list(vectors)})


def _deviations(code: NDArray[Any], left: FloatArray, number: FloatArray, n: int) -> FloatArray:
    """Mean (n,) of what is left, shrunk towards 0."""
    total = np.bincount(code, weights=left * number, minlength=n)
    return np.asarray(total / (np.bincount(code, weights=number, minlength=n) + _SHRINK))


def _directions(ratings: Ratings, left: FloatArray, rank: int, n_items: int) -> FloatArray:
    """Coordinates (n_items, rank) in the first singular directions; 0 in those that the data do not have."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import svds

    found = np.zeros((n_items, rank))
    n_users = int(ratings.user.max()) + 1
    possible = min(rank, n_users - 1, n_items - 1)
    if possible < 1 or not left.any():
        return found
    matrix = csr_matrix((left, (ratings.user, ratings.item)), shape=(n_users, n_items))
    if min(matrix.shape) <= _DENSE:
        _, size, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
        right, size = right[:possible], size[:possible]
    else:
        first = np.random.default_rng(0).standard_normal(min(matrix.shape))
        _, size, right = svds(matrix, k=possible, v0=first)
        order = np.argsort(-size)
        right, size = right[order], size[order]
    largest = np.abs(right).argmax(axis=1)  # a direction is defined up to its sign
    right = right * np.sign(right[np.arange(possible), largest])[:, np.newaxis]
    found[:, :possible] = right.T * (size / np.sqrt(n_users))
    return found
