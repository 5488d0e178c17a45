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

_LEAST_TRIED, _MOST_TRIED, _ONE_TRIED_OF = 2, 16, 32  # tiles

Tally = tuple[IntArray, NDArray[np.uint64], NDArray[np.uint64]]  # numbers of lenders, sums of their words


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
    told, tree = nothing(rule.n_users + 1), rule.tree
    if len(tree.order):
        leaves = tree.leaves
        parts = tiles(tree.start[leaves], tree.stop[leaves])
        for whole, part in zip(
            told, _walked(rule, everybody_in(tree), parts, progress, threads), strict=True
        ):
            whole[tree.order] = part
        if np.isfinite(rule.slack[-1]):
            one = (np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))
            for whole, part in zip(told, _walked(rule, rule.never_seen(), one, progress, 1), strict=True):
                whole[-1:] = part
    return completed(rule, told)


def nothing(n: int) -> Tally:
    """No lender yet of n users."""
    return np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)


def completed(rule: Rule, told: Tally) -> Lenders:
    """With the users outside the tree, and herself where the rule itself does not join her."""
    count, total = told[0], np.stack(told[1:])
    alone = rule.tree.order[~rule.lends_to_herself()]
    count[alone] += 1
    total[:, alone] += words(alone)
    _add_the_infinite(rule, count, total)
    return Lenders(count, total)


def hardly_shared(rule: Rule) -> bool:
    """Whether, in some tiles, most users have lenders whom nobody else there has."""
    leaves = rule.tree.leaves
    if not len(rule.tree.order):
        return False
    begin, end = tiles(rule.tree.start[leaves], rule.tree.stop[leaves])
    n = min(len(begin), max(_LEAST_TRIED, min(_MOST_TRIED, len(begin) // _ONE_TRIED_OF)))
    some = np.linspace(0, len(begin) - 1, n).astype(np.int64)
    count, one, two = _walked(rule, everybody_in(rule.tree), (begin[some], end[some]), silent, 1)
    tried = np.concatenate([np.arange(a, b) for a, b in zip(begin[some], end[some], strict=True)])
    joined = tried[count[tried] > 1]
    different = np.unique(np.stack([one[joined], two[joined]]), axis=1).shape[1]
    return bool(2 * different > len(tried))


def _walked(
    rule: Rule, asked: Asked, parts: tuple[IntArray, IntArray], progress: Progress, threads: int | None
) -> Tally:
    """Number of lenders in the tree and their words, of every query in the tiles."""
    from coterie.neighbourhood.search import _kernels

    told = nothing(len(asked.slack))

    def some(begin: IntArray, end: IntArray) -> None:
        _kernels.fingerprints(rule.tree, asked, begin, end, rule.strict, *told)

    shared_out(some, *parts, "comparing users", progress, threads)
    return told


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
