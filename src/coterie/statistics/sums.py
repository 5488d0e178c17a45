"""Stage 2, statistics: one pass over the batches, every row added to its user's sums.

Takes: `Logs`.
Gives: `UserStatistics`, users in ascending order; memory is the statistics and a few batches.
Paper: the sums in the equation for M_u and b_u.
Next: `coterie.confidence`.

Batches are read and decoded by several threads, get their users' rows in one, and are added by several
again; see `totals`. `partial_sums` and `merge` are the two halves of a computation on many machines: each
sums its share of the batches, and somebody adds the parts in a fixed order.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np

from coterie.checks import at_least
from coterie.errors import LogError, warn
from coterie.logs import Batch, Logs
from coterie.logs.logs import default_threads
from coterie.progress import Progress, silent
from coterie.statistics.tables import Table, table_for
from coterie.statistics.totals import Totals
from coterie.statistics.user_statistics import UserStatistics
from coterie.user_ids import UserIndex


def summarize(
    logs: Logs,
    *,
    threads: int | None = None,
    progress: Progress = silent,
    watch: Callable[[Batch], None] | None = None,
) -> UserStatistics:
    """Per-user sums of a log.

    `watch` is shown every batch once, in the order of the log, so that one pass can serve two purposes.
    Rows left out under `on_bad="drop"` are counted in `dropped` and warned about; a user all of whose
    rows have weight 0 is known and has no data.

    Examples
    --------
    >>> logs = Logs.from_arrays(["b", "a", "b"], [[1.0], [1.0], [0.5]], [1.0, 0.0, 2.0])
    >>> stats = summarize(logs)
    >>> stats.users.tolist(), stats.count.tolist(), stats.moment.tolist()
    (['a', 'b'], [1.0, 2.0], [[0.0], [2.0]])
    """
    threads = default_threads() if threads is None else int(at_least("threads", threads, 1))
    total = logs.n_rows()

    def watched() -> Generator[Batch, None, None]:
        done = 0
        for batch in logs.batches(threads):
            yield batch
            if watch is not None:
                watch(batch)
            done += len(batch) + sum(batch.dropped.values())
            progress("reading rows", done, total)

    with closing(watched()) as batches:
        stats = partial_sums(
            batches,
            features=lambda: logs.features,
            intercept=logs.intercept,
            threads=threads,
            name=logs.source.name,
        )
    _tell_dropped(stats.dropped)
    return stats


def partial_sums(
    batches: Iterable[Batch],
    *,
    features: Callable[[], tuple[str, ...] | None] = lambda: None,
    intercept: bool = False,
    threads: int = 1,
    name: str = "the log",
) -> UserStatistics:
    """Sums of some batches of a log, which `merge` adds to those of the others.

    `features` is asked for the names of the coordinates after the last batch, when the log knows them.

    Examples
    --------
    >>> logs = Logs.from_arrays(["b", "a"], [[1.0], [2.0]], [1.0, 0.0])
    >>> part = partial_sums(logs.batches())
    >>> merge([part, part]).count.tolist()
    [2.0, 2.0]
    """
    dropped: dict[str, int] = {}
    totals: Totals | None = None
    table: Table | None = None
    with ThreadPoolExecutor(threads) as pool:
        for batch in batches:
            for kind, n in batch.dropped.items():
                dropped[kind] = dropped.get(kind, 0) + n
            if not len(batch):
                continue
            table = table or table_for(batch)
            totals = totals or Totals(batch.action.shape[1], pool, threads)
            totals.add(table.rows(batch.user), len(table), batch)
        if totals is None or table is None:
            lost = f" ({sum(dropped.values())} rows were dropped)" if dropped else ""
            raise LogError(f"there are no usable rows in {name}{lost}; at least one is required")
        ids = table.ids()
        table = None
        order = np.argsort(ids)
        count, moment, gram, square, longest = totals.finish(order)
    return UserStatistics(
        index=UserIndex(ids[order]),
        count=count,
        moment=moment,
        packed_gram=gram,
        reward_square=square,
        longest=np.sqrt(longest),
        features=features(),
        intercept=intercept,
        dropped=dropped,
    )


def merge(parts: Sequence[UserStatistics]) -> UserStatistics:
    """Statistics of all parts together, added in the order given."""
    if not parts:
        raise LogError("there are no partial sums to merge; at least one is required")
    return sum(parts[1:], start=parts[0])


def _tell_dropped(dropped: Mapping[str, int]) -> None:
    if dropped:
        kinds = "; ".join(f"{n} with {kind}" for kind, n in dropped.items())
        warn(f"{sum(dropped.values())} rows were left out: {kinds}")
