r"""Sums over lenders, once for every distinct set of them.

Takes: a rule, the groups of users with the same lenders, and the columns to be added up.
Gives: one row of sums per group.
Paper: M-tilde, b-tilde and N-tilde before the prior.
Next: `coterie.neighbourhood.metric`.

One member of each group walks the tree. Nodes that lend as a whole give their own sums; of the leaves that
lend in part a mask of zeros and ones is made, for many borrowers at once, and multiplied with the columns.
The shapes of these products depend on the data alone and each runs on one thread, so that the number of
threads changes no bit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.logs.logs import default_threads, in_order
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.neighbourhood.search.asked import TILE, Asked, one_blas_thread
from coterie.neighbourhood.search.lenders import Lenders, Rule, Tally, completed, nothing
from coterie.neighbourhood.tree.ball_tree import LARGEST_LEAF
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

_BORROWERS, _LENDERS = 1024, 1024  # shape of one mask, 8 MiB
_NUMBERS = 1 << 21  # of the columns of lenders held at a time: 16 MiB
_COPIED = 4096  # rows gathered at a time


@dataclass(frozen=True, eq=False)
class Columns:
    """Per-user arrays side by side: views (U, w) and where each begins."""

    parts: tuple[FloatArray, ...]
    edges: tuple[int, ...]

    @staticmethod
    def of(columns: tuple[FloatArray, ...]) -> "Columns":
        """The same arrays as matrices."""
        parts = tuple(column.reshape(len(column), -1) for column in columns)
        edges = np.cumsum([0, *(part.shape[1] for part in parts)])
        return Columns(parts, tuple(edges.tolist()))

    @property
    def width(self) -> int:
        """Numbers per user."""
        return self.edges[-1]

    def gather(self, rows: IntArray, out: FloatArray) -> FloatArray:
        """The rows, into the top of `out`."""
        for part, a, b in zip(self.parts, self.edges, self.edges[1:], strict=False):
            out[: len(rows), a:b] = part[rows]
        return out[: len(rows)]

    def total(self, rows: IntArray) -> FloatArray:
        """Sum over rows, in their order."""
        sums, step = np.zeros(self.width), max(1, min(_COPIED, _NUMBERS // self.width))
        held = np.empty((min(step, len(rows)), self.width))
        for at in range(0, len(rows), step):
            sums += self.gather(rows[at : at + step], held).sum(axis=0)
        return sums

    def scatter(self, found: FloatArray, into: tuple[FloatArray, ...], groups: IntArray) -> None:
        """Write found sums (n, width) into the rows of these groups."""
        for sums, a, b in zip(into, self.edges, self.edges[1:], strict=False):
            sums.reshape(len(sums), -1)[groups] = found[:, a:b]


def sums_of(
    rule: Rule,
    first: IntArray,
    count: IntArray,
    columns: tuple[FloatArray, ...],
    progress: Progress = silent,
    threads: int | None = None,
    told: Tally | None = None,
) -> tuple[FloatArray, ...]:
    """Sums (G, ...) over the lenders of the row that stands for each group; `count` is their number.

    Numbers and words of the lenders in the tree are written into `told`.
    """
    flat = Columns.of(columns)
    sums = tuple(np.zeros((len(first), *column.shape[1:])) for column in columns)
    alone = (count == 1) & (first < rule.n_users)
    _copy(flat, first, np.flatnonzero(alone), sums)
    anywhere = flat.total(rule.anywhere)
    place = np.full(rule.n_users, -1)
    place[rule.tree.order] = np.arange(len(rule.tree.order))
    seen = np.flatnonzero(~alone & np.isfinite(rule.slack[first]) & (first < rule.n_users))
    seen = seen[np.argsort(place[first[seen]])]
    with one_blas_thread():
        walk = _Walk.over(rule, flat, anywhere) if len(seen) or np.isfinite(rule.slack[-1]) else None
        if walk is not None and len(seen):
            _walk_all(walk, place[first[seen]], (seen, sums, told), progress, threads)
        if walk is not None and np.isfinite(rule.slack[-1]):
            _write(
                walk.sums(rule.never_seen(), np.zeros(0, np.int64)),
                flat,
                np.array([len(first) - 1]),
                sums,
                told,
            )
    everywhere = np.flatnonzero(rule.slack[first] == -np.inf)
    if len(everywhere):
        flat.scatter((anywhere + flat.total(rule.tree.order))[np.newaxis], sums, everywhere)
    return sums


def sums_and_lenders(
    rule: Rule, columns: tuple[FloatArray, ...], progress: Progress = silent, threads: int | None = None
) -> tuple[tuple[FloatArray, ...], Lenders]:
    """Sums (U + 1, ...) over the lenders of every row, and who they are, each pair compared once."""
    told, everybody = nothing(rule.n_users + 1), np.arange(rule.n_users + 1)
    alone = (rule.slack == np.inf).astype(np.int64)
    sums = sums_of(rule, everybody, alone, columns, progress, threads, told)
    return sums, completed(rule, told)


def kept(sums: tuple[FloatArray, ...], rows: IntArray) -> tuple[FloatArray, ...]:
    """These ascending rows of the sums, moved to their top."""
    if len(rows) == len(sums[0]):
        return sums
    for at in range(0, len(rows), _COPIED):
        some = rows[at : at + _COPIED]
        for total in sums:
            total[at : at + len(some)] = total[some]
    return tuple(total[: len(rows)] for total in sums)


def _copy(flat: Columns, first: IntArray, groups: IntArray, sums: tuple[FloatArray, ...]) -> None:
    """Own data of users who are alone."""
    for at in range(0, len(groups), _COPIED):
        some = groups[at : at + _COPIED]
        for part, total in zip(flat.parts, sums, strict=True):
            total.reshape(len(total), -1)[some] = part[first[some]]


def _write(
    found: tuple[FloatArray, Tally],
    flat: Columns,
    groups: IntArray,
    sums: tuple[FloatArray, ...],
    told: Tally | None,
) -> None:
    """Put what was found for some borrowers into the rows of their groups."""
    flat.scatter(found[0], sums, groups)
    for whole, part in zip(told or (), found[1], strict=False):
        whole[groups] = part


def _walk_all(
    walk: "_Walk",
    places: IntArray,
    into: tuple[IntArray, tuple[FloatArray, ...], Tally | None],
    progress: Progress,
    threads: int | None,
) -> None:
    """Sums of all groups, a block of borrowers at a time."""
    groups, sums, told = into
    tree, step = walk.rule.tree, walk.n_borrowers
    parts = [slice(at, at + step) for at in range(0, len(places), step)]

    def one(part: slice) -> int:
        at = places[part]
        asked = Asked(tree.points[at], tree.slack[at], tree.limit[at])
        _write(walk.sums(asked, at), walk.columns, groups[part], sums, told)
        return min(int(part.stop), len(places))

    for done in in_order(one, parts, threads or default_threads()):
        progress("pooling", done, len(places))


@dataclass(frozen=True, eq=False)
class _Walk:
    """What adding up needs: sums of every node, and of the users who lend to everybody."""

    rule: Rule
    columns: Columns
    anywhere: FloatArray
    node_sums: FloatArray
    leaves: IntArray
    rank: IntArray
    herself: NDArray[np.bool_]

    @staticmethod
    def over(rule: Rule, columns: Columns, anywhere: FloatArray) -> "_Walk":
        """Sums of all nodes, leaves first."""
        tree = rule.tree
        leaves = tree.leaves
        rank, node_sums = np.full(len(tree.start), -1), np.empty((len(tree.start), columns.width))
        rank[leaves] = np.arange(len(leaves))

        def one(leaf: int) -> None:
            node_sums[leaf] = columns.total(tree.order[tree.start[leaf] : tree.stop[leaf]])

        list(in_order(one, leaves.tolist(), default_threads()))
        for node in np.flatnonzero(tree.child >= 0)[::-1].tolist():
            node_sums[node] = node_sums[tree.child[node]] + node_sums[tree.child[node] + 1]
        return _Walk(rule, columns, anywhere, node_sums, leaves, rank, rule.lends_to_herself())

    @property
    def n_borrowers(self) -> int:
        """Borrowers at a time."""
        return max(16, min(_BORROWERS, 2 * _NUMBERS // self.columns.width))

    def sums(self, asked: Asked, places: IntArray) -> tuple[FloatArray, Tally]:
        """Sums over the lenders of some borrowers, who are at these places if they are in the tree.

        Their numbers and words are of those in the tree.
        """
        from coterie.neighbourhood.search import _kernels

        n = len(asked.slack)
        found = np.zeros((n, self.columns.width))
        partly = np.zeros((n, len(self.leaves)), dtype=np.bool_)
        tally = nothing(n)
        begin = np.arange(0, n, TILE)
        _kernels.whole_sums(
            self.rule.tree, asked, begin, np.minimum(begin + TILE, n), self.rule.strict,
            self.rank, LARGEST_LEAF, self.node_sums, found, partly, *tally,
        )  # fmt: skip
        if partly.any():
            self._add_parts(asked, partly, found, tally)
        found += self.anywhere
        left_out = np.flatnonzero(~self.herself[places])
        if len(left_out):
            rows = self.rule.tree.order[places[left_out]]
            found[left_out] += self.columns.gather(rows, np.empty((len(rows), self.columns.width)))
        return found, tally

    def _add_parts(self, asked: Asked, partly: NDArray[np.bool_], found: FloatArray, tally: Tally) -> None:
        """Add the lenders in leaves that lend in part: zeros and ones times columns."""
        from coterie.neighbourhood.leaves import _kernels

        tree = self.rule.tree
        most = max(32, min(_LENDERS, _NUMBERS // self.columns.width) // 32 * 32)
        mask = np.empty((len(found), most))
        held, who = np.empty((most, self.columns.width)), np.empty(len(found), dtype=np.int64)
        for ranks, begin, end in self._pieces(np.flatnonzero(partly.any(axis=0)), most):
            leaves = self.leaves[ranks]
            n = _kernels.masks(
                tree, asked, self.rule.strict, leaves, ranks, begin, end, partly, mask, who, *tally
            )
            at = np.concatenate([np.arange(a, b) for a, b in zip(begin, end, strict=True)])
            rows = tree.order[at + np.repeat(tree.start[leaves], end - begin)]
            found[who[:n]] += mask[:n, : len(rows)] @ self.columns.gather(rows, held)

    def _pieces(self, ranks: IntArray, most: int) -> list[tuple[IntArray, IntArray, IntArray]]:
        """Leaves, cut where they are large, put together up to so many members."""
        sizes = (self.rule.tree.stop - self.rule.tree.start)[self.leaves[ranks]]
        panels, panel, room = [], list[tuple[int, int, int]](), most
        for rank, size in zip(ranks.tolist(), sizes.tolist(), strict=True):
            for begin in range(0, size, most):
                end = min(begin + most, size)
                if end - begin > room:
                    panels.append(panel)
                    panel, room = [], most
                panel.append((rank, begin, end))
                room -= end - begin
        return [tuple(np.array(one, dtype=np.int64).T.copy()) for one in [*panels, panel]]
