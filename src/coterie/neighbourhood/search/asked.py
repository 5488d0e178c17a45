"""Queries, tiles of them, and threads that share out tiles.

Takes: points, slacks and limits of borrowers.
Gives: an `Asked`; tiles of at most 64 that walk a tree together; work done by threads, in any number.
Next: `lenders`.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from coterie.logs.logs import default_threads, in_order
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.neighbourhood.tree import BallTree
from coterie.packed import FloatArray
from coterie.progress import Progress

TILE = 64
_TILES_AT_A_TIME = 16  # a task: large enough to outweigh handing it over


class Asked(NamedTuple):
    """Borrowers: points (q, d), slack (q,) and limit (q,)."""

    points: FloatArray
    slack: FloatArray
    limit: FloatArray


def everybody_in(tree: BallTree) -> Asked:
    """The users of the tree as borrowers, in its order."""
    return Asked(tree.points, tree.slack, tree.limit)


def tiles(start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
    """Begin and end of tiles that do not cross these ranges.

    >>> [part.tolist() for part in tiles(np.array([0, 70]), np.array([70, 80]))]
    [[0, 64, 70], [64, 70, 80]]
    """
    n = -((start - stop) // TILE)
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    begin = np.repeat(start, n) + TILE * within
    return begin, np.minimum(begin + TILE, np.repeat(stop, n))


@cache
def _pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Matrix products run on one thread, so that their roundings do not depend on the machine's load."""
    context: AbstractContextManager[object] = _pools().limit(limits=1, user_api="blas")
    return context


def shared_out(
    task: Callable[[IntArray, IntArray], None],
    begin: IntArray,
    end: IntArray,
    stage: str,
    progress: Progress,
    threads: int | None = None,
) -> None:
    """Do a task for all tiles, some at a time, by threads; tasks write to their own queries only."""
    parts = [slice(at, at + _TILES_AT_A_TIME) for at in range(0, len(begin), _TILES_AT_A_TIME)]

    def one(part: slice) -> int:
        task(begin[part], end[part])
        return int(end[part][-1])

    for done in in_order(one, parts, threads or default_threads()):
        progress(stage, done, int(end[-1]))
