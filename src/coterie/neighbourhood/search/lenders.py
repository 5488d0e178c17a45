r"""Which users have the same lenders, told without listing any.

Takes: a rule's points, slacks and limits.
Gives: per user the number of her lenders and a fingerprint of who they are; groups of users with equal ones.
Paper: the graph G, of which only the distinct neighbourhoods matter to the pooled statistics.
Next: `sums`.

A fingerprint is the sum of two random words over the lenders, modulo 2^64. It adds up over nodes of a tree
as counts do, without rounding, and two different sets agree with probability 2^-128.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.neighbourhood.neighbourhood import IntArray
from coterie.neighbourhood.search.asked import Asked, everybody_in, shared_out, tiles
from coterie.neighbourhood.tree import BallTree, ball_tree, words
from coterie.packed import FloatArray
from coterie.progress import Progress, silent


@dataclass(frozen=True, eq=False)
class Rule:
    """Distance + (slack_u + slack_v) below limit_u: rows 0 to U - 1 are users, row U one never seen.

    `tree` holds the users with a finite slack, `anywhere` the rows of those with -inf, who lend to and
    borrow from everybody. A slack of +inf leaves a user alone.
    """

    points: FloatArray
    slack: FloatArray
    limit: FloatArray
    strict: bool
    tree: BallTree
    anywhere: IntArray

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.points) - 1

    def never_seen(self) -> Asked:
        """The user never seen, as a borrower."""
        return Asked(self.points[-1:].copy(), self.slack[-1:].copy(), self.limit[-1:].copy())

    def lends_to_herself(self) -> NDArray[np.bool_]:
        """Whether the rule itself joins each user of the tree, in its order, to herself."""
        left, tree = self.tree.slack + self.tree.slack, self.tree
        if self.strict:
            return (left < tree.limit) & (left < tree.cap)
        return (left <= tree.limit) & (left <= tree.cap)


@dataclass(frozen=True, eq=False)
class Lenders:
    """Number of lenders (U + 1,) of each row and the fingerprint (2, U + 1) of who they are."""

    count: IntArray
    words: NDArray[np.uint64]

    def groups(self) -> tuple[IntArray, IntArray]:
        """Group of each row, in the order of first appearance, and the first row of each group.

        The user never seen is a group of her own, the last.
        """
        one, two = self.words[:, :-1]
        order = np.lexsort((two, one))
        same = (one[order][1:] == one[order][:-1]) & (two[order][1:] == two[order][:-1])
        begins = np.append(True, ~same)
        first = order[begins]
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        group = np.empty(len(one) + 1, dtype=np.int64)
        group[order] = place[np.cumsum(begins) - 1]
        group[-1] = len(first)
        return group, np.append(np.sort(first), len(one))


def rule_over(
    points: FloatArray, slack: FloatArray, limit: FloatArray, *, strict: bool, mutual: bool
) -> Rule:
    """The rule, with a tree over its users."""
    finite = np.flatnonzero(np.isfinite(slack[:-1]))
    tree = ball_tree(points[finite], slack[finite], limit[finite], rows=finite, mutual=mutual)
    return Rule(points, slack, limit, strict, tree, np.flatnonzero(slack[:-1] == -np.inf))


def lenders_of(rule: Rule, progress: Progress = silent, threads: int | None = None) -> Lenders:
    """Number and fingerprint of every user's lenders."""
    n, tree = rule.n_users, rule.tree
    count, total = np.zeros(n + 1, dtype=np.int64), np.zeros((2, n + 1), dtype=np.uint64)
    if len(tree.order):
        leaves = tree.leaves
        asked, parts = everybody_in(tree), tiles(tree.start[leaves], tree.stop[leaves])
        count[tree.order], total[:, tree.order] = _walked(rule, asked, parts, progress, threads)
        alone = tree.order[~rule.lends_to_herself()]
        count[alone] += 1
        total[:, alone] += words(alone)
        if np.isfinite(rule.slack[-1]):
            one = (np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))
            count[-1:], total[:, -1:] = _walked(rule, rule.never_seen(), one, progress, 1)
    _add_the_infinite(rule, count, total)
    return Lenders(count, total)


def _walked(
    rule: Rule, asked: Asked, parts: tuple[IntArray, IntArray], progress: Progress, threads: int | None
) -> tuple[IntArray, NDArray[np.uint64]]:
    """Number of lenders in the tree and their words, of every query."""
    from coterie.neighbourhood.search import _kernels

    n = len(asked.slack)
    count, total = np.empty(n, dtype=np.int64), np.empty((2, n), dtype=np.uint64)

    def some(begin: IntArray, end: IntArray) -> None:
        _kernels.fingerprints(rule.tree, asked, begin, end, rule.strict, count, total[0], total[1])

    shared_out(some, *parts, "comparing users", progress, threads)
    return count, total


def _add_the_infinite(rule: Rule, count: IntArray, total: NDArray[np.uint64]) -> None:
    """Users with an infinite slack: joined to everybody (-inf), or alone (+inf)."""
    n, anywhere = rule.n_users, rule.anywhere
    everybody = np.append(rule.tree.order, anywhere)
    joined = np.append(everybody, n)[
        np.append(np.isfinite(rule.slack[everybody]), np.isfinite(rule.slack[-1]))
    ]
    count[joined] += len(anywhere)
    total[:, joined] += words(anywhere).sum(axis=1, keepdims=True)
    with_all = np.append(anywhere, n) if rule.slack[-1] == -np.inf else anywhere
    count[with_all] = len(everybody)
    total[:, with_all] = words(everybody).sum(axis=1, keepdims=True)
    alone = np.flatnonzero(rule.slack[:-1] == np.inf)
    count[alone] = 1
    total[:, alone] = words(alone)
