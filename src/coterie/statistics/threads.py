"""Rows of known users added to sums by several threads, each thread to its own users.

Takes: the row of each user, actions, rewards, weights, and the sums.
Gives: nothing; the sums grow.
Next: `sums`, which finds the users' rows in a stream; `coterie.evaluation`, which has them already.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.logs.logs import default_threads
from coterie.packed import FloatArray
from coterie.statistics.totals import in_user_order, shards


def add_rows(
    row: NDArray[Any], action: FloatArray, reward: FloatArray, weight: FloatArray, sums: tuple[Any, ...]
) -> None:
    """Add rows to (count, moment, packed Gram, squared rewards, squared length of the longest action).

    Every user's rows are added in their order by one thread, so that the sums do not depend on the
    number of threads; a row of weight 0 is no row.
    """
    from coterie.statistics import _kernels

    kernel = _kernels.accumulate_for(action.shape[1])
    keys, code = in_user_order([np.asarray(row, dtype=np.int64)])
    weights = [np.ascontiguousarray(weight)] if len(weight) else []
    given = [np.ascontiguousarray(action)], [np.ascontiguousarray(reward)], weights
    threads = default_threads()
    with ThreadPoolExecutor(threads) as pool:
        running = [
            pool.submit(kernel, keys[part], code, *given, *sums) for part in shards(keys, threads, code)
        ]
        for shard in running:
            shard.result()
