"""Rows of known users added to sums by several threads, each thread to its own users.

Takes: the row of each user, actions, rewards, weights, and the sums.
Gives: nothing; the sums grow.
Next: `sums`, which finds the users' rows in a stream; `coterie.evaluation`, which has them already.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray

from coterie.logs.logs import default_threads
from coterie.packed import FloatArray


def add_rows(
    row: NDArray[Any], action: FloatArray, reward: FloatArray, weight: FloatArray, sums: tuple[Any, ...]
) -> None:
    """Add rows to (count, moment, packed Gram, squared rewards, squared length of the longest action).

    Every user's rows are added in their order by one thread, so that the sums do not depend on the
    number of threads; a row of weight 0 is no row.
    """
    from coterie.statistics import _kernels

    kernel = _kernels.accumulate_for(action.shape[1])
    threads = default_threads()
    with ThreadPoolExecutor(threads) as pool:
        shards = [
            pool.submit(kernel, row, action, reward, weight, *sums, shard, threads)
            for shard in range(threads)
        ]
        for shard in shards:
            shard.result()
