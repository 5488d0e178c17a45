"""The oracle itself, anchored by numbers that can be checked in the head."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.reference import literal
from tests.reference.literal import Array, Settings

# Without noise and with lam 1 the multiplier is theta_bound sqrt(1) = 1; with actions 1, CI = 1/sqrt(1 + N).
PLAIN = Settings(lam=1.0, noise=0.0, theta_bound=1.0, regularity=("observed",))


def ones(*rewards: float) -> tuple[Array, Array]:
    """A user of a one-dimensional world who was always shown the action 1."""
    return np.ones((len(rewards), 1)), np.array(rewards, dtype=np.float64)


def test_multiplier_radius_and_minimum_count() -> None:
    """The logarithms are chosen to come out whole.

    U = 2, delta = 4/e^2: 2 log(2U/delta) = 2 log(e^2) = 4.
    lam = 3/(e^5 - 1), N = 3, n = d = 1: log(1 + 3/lam) = log(e^5) = 5.
    Root = sqrt(5 + 4) = 3; with noise 2 and theta_bound 5: 2*3 + 5 sqrt(lam).
    N = 6 of n = 2 users: the same, and in the proof's form 2*3 + 5 sqrt(2 lam).
    d = 2, N = 6, n = 1: 2 log(1 + 6/(2 lam)) = 10, root sqrt(14).  CI, x = 2/3, N = 3: over sqrt(x*3/2) = 1.
    N_min with x = 2, U = 3, d = 2, delta = 12/e^3: 16/4 log(48/(4*12/e^3)) = 4*3 = 12.
    """
    s = Settings(lam=3 / (math.e**5 - 1), delta=4 / math.e**2, noise=2.0, theta_bound=5.0)
    tail = 5 * math.sqrt(s.lam)
    assert literal.multiplier(3, 1, 2, 1, s) == pytest.approx(6 + tail)
    assert literal.multiplier(6, 2, 2, 1, s) == pytest.approx(6 + tail)
    assert literal.multiplier(6, 2, 2, 1, replace(s, proof=True)) == pytest.approx(6 + tail * math.sqrt(2))
    assert literal.multiplier(6, 1, 2, 2, s) == pytest.approx(2 * math.sqrt(14) + tail)
    smooth = literal.independent([ones(1, 1, 1), ones()], replace(s, regularity=("smoothed", 2 / 3)))
    assert [*smooth.CI, smooth.unseen.CI] == pytest.approx([6 + tail, math.inf, math.inf])
    theory = Settings(delta=12 / math.e**3, regularity=("iid", 2.0))
    assert literal.minimum_count(3, 2, theory) == pytest.approx(12)
    assert literal.minimum_count(3, 2, replace(theory, regularity=("observed",))) == 0
    assert literal.minimum_count(3, 2, replace(theory, min_samples=7)) == 7


def test_off_club_pools_one_hop_neighbours() -> None:
    """A chain 0 - 1 - 2, alpha = 3/2.

    M = 4, 4, 9; b = 12, 8, 9; theta = 3, 2, 1; CI = 1/2, 1/2, 1/3.
    0-1: 1 <= 3/2 (margin 1/2).  1-2: 1 <= 5/4 (1/4).  0-2: 2 > 5/4, removed (3/4).
    Pools: {0,1}: M 1+6 = 7, b 20.  {0,1,2}: M 1+14 = 15, b 29.  {1,2}: M 1+11 = 12, b 17.  beta = 1.
    Unseen: theta 0, CI 1: 3 > 9/4 removed, 2 <= 9/4, 1 <= 2, hence {1,2}: M 12, b 17.
    """
    rows = [ones(4, 4, 4), ones(2, 3, 3), ones(*[9 / 8] * 8)]
    result = literal.off_club(rows, replace(PLAIN, alpha=1.5))
    assert [*result.CI, result.unseen.CI] == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1])
    assert result.neighbours == [[0, 1], [0, 1, 2], [1, 2]]
    assert result.distance == [pytest.approx(line) for line in ([0, 1, 2], [1, 0, 1], [2, 1, 0])]
    inf = math.inf
    margins = ([inf, 1 / 2, 3 / 4], [1 / 2, inf, 1 / 4], [3 / 4, 1 / 4, inf])
    assert result.margin == [pytest.approx(line) for line in margins]
    assert [float(M[0, 0]) for M in result.M_tilde] == [7, 15, 12]
    assert [float(theta[0]) for theta in result.theta_tilde] == pytest.approx([20 / 7, 29 / 15, 17 / 12])
    assert (result.N_pooled, result.n_pooled, result.beta) == ([6, 14, 11], [2, 3, 2], [1, 1, 1])
    unseen = result.unseen
    assert (unseen.neighbours, unseen.n_pooled, unseen.N_pooled) == ([1, 2, 3], 3, 11)
    assert unseen.margin == pytest.approx([3 / 4, 1 / 4, 1])
    assert float(unseen.theta_tilde[0]) == pytest.approx(17 / 12)


@pytest.mark.parametrize(
    ("changes", "gap", "neighbours", "unseen"),
    [
        ({}, [19 / 8, 13 / 8, 13 / 8], [[0, 1], [1], [2]], [0, 1, 3]),
        ({"sharing": "mutual"}, [19 / 8, 13 / 8, 13 / 8], [[0], [1], [2]], [0, 3]),
        ({"sharing": "global"}, [13 / 8] * 3, [[0], [1], [2]], [0, 3]),
        ({"gap": "under"}, [7 / 8, 1 / 8, 1 / 8], [[0], [1], [2]], [3]),
        ({"gap": 2.0}, [2, 2, 2], [[0, 1], [0, 1, 2], [1, 2]], [0, 3]),
        ({"gap": 2.0, "min_samples": 3}, [2, 2, 2], [[0, 1], [0, 1, 2], [1, 2]], [3]),
        ({"gap": 2.0, "min_samples": 4}, [2, 2, 2], [[0], [1], [2]], [3]),
        ({"min_samples": 4}, [19 / 8, 13 / 8, 13 / 8], [[0], [1], [2]], [3]),
    ],
)
def test_off_c2lub_gaps_and_edges(
    changes: dict[str, float | str], gap: list[float], neighbours: list[list[int]], unseen: list[int]
) -> None:
    """One user lends without receiving, alpha = 1.

    N = 3, 3, 15; theta = 0, 3/4, 13/8; CI = 1/2, 1/2, 1/4; alpha(CI+CI): 0-1 1, 0-2 3/4, 1-2 3/4.
    Gamma: 0-1 -1/4, 0-2 7/8, 1-2 1/8, so M = {2}, {2}, {0,1}.  Gamma_tilde: 0-1 14/8, 0-2 19/8, 1-2 13/8.
    over: 19/8, 13/8, 13/8.  under: 7/8, 1/8, 1/8.  v lends to u if Gamma_tilde < gap of u:
    1 to 0 (14 < 19), not 0 to 1 (14 > 13); 2 to 0 and 1-2 are ties, no edge; not 0 to 2 (19 > 13).
    Unseen: theta 0, CI 1; Gamma -3/2, -3/4, 3/8; Gamma_tilde 12/8, 18/8, 23/8.
    over: gap 23/8: 0 (12 < 23) and 1 (18 < 23), with 2 a tie.  under: gap 3/8: nobody.
    mutual: 0 (12 < 19), not 1 (18 > 13).  global 13/8: 0 (12 < 13), not 1.  gap 2 = 16/8: 0 (12 < 16), not 1.
    """
    rows = [ones(0, 0, 0), ones(1, 1, 1), ones(*[1] * 14, 12)]
    result = literal.off_c2lub(rows, replace(PLAIN, **changes))  # type: ignore[arg-type]
    assert result.gap == pytest.approx(gap)
    assert result.neighbours == neighbours
    assert result.unseen.neighbours == unseen
    if "gap" not in changes:
        assert result.gap_margin == pytest.approx([1 / 4, 1 / 8, 1 / 8])
        assert result.unseen.gap_margin == pytest.approx(3 / 8)


def test_off_c2lub_prior_grows_with_the_pool() -> None:
    """The world above; beta is 1, in the proof's form sqrt(n).

    User 0 pools {0,1}: M = 2*1 + 6 = 8, b = 0 + 3.  Unseen: {0,1} and herself: n = 3, M = 3*1 + 6 = 9, b = 3.
    Margins of 0 in eighths: |14 - 19| = 5 and 19 - 19 = 0, exactly.
    """
    rows = [ones(0, 0, 0), ones(1, 1, 1), ones(*[1] * 14, 12)]
    result = literal.off_c2lub(rows, replace(PLAIN, proof=True))
    assert [float(M[0, 0]) for M in result.M_tilde] == [8, 4, 16]
    assert (result.N_pooled, result.n_pooled) == ([6, 3, 15], [2, 1, 1])
    assert float(result.theta_tilde[0][0]) == pytest.approx(3 / 8)
    assert result.beta == pytest.approx([math.sqrt(2), 1, 1])
    assert float(result.unseen.M_tilde[0, 0]) == 9
    assert result.unseen.n_pooled == 3
    assert float(result.unseen.theta_tilde[0]) == pytest.approx(1 / 3)
    assert result.margin[0] == [math.inf, pytest.approx(5 / 8), 0]
    assert literal.off_c2lub(rows, PLAIN).beta == [1, 1, 1]


def test_users_without_data_baselines_and_the_decision() -> None:
    """User 0 has three rows (1,0) with reward 8/3 and eight rows (0,1) with reward 9/4; user 1 has none.

    M_0 = diag(4, 9), b_0 = (8, 18), theta_0 = (2, 2), smallest eigenvalue 4, CI_0 = 1/2, CI_1 = 1/1.
    Actions (2,0), (0,3), (0,3), (5,0): a'M^-1a = 1, 1, 1, 25/4, its root 1, 1, 1, 5/2; estimates 4, 6, 6, 10.
    User 0, scale 4: widths 4, 4, 4, 10; scores 0, 2, 2, 0, so index 1; optimistic 8, 10, 10, 20, so index 3.
    squared: widths 4, 4, 4, 25; greedy scores are the estimates.  Unseen, M = I: 4 times 2, 3, 3, 5.
    Smoothed: CI_1 is infinite, joined under Off-CLUB, not under Off-C2LUB.
    alpha = 0: an infinite radius stays so; a finite one gives threshold 0, distance |(2, 2)| = sqrt(8).
    """
    A = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 8)
    rows = [(A, np.array([8 / 3] * 3 + [9 / 4] * 8)), (np.zeros((0, 2)), np.zeros(0))]
    actions = np.array([[2.0, 0.0], [0.0, 3.0], [0.0, 3.0], [5.0, 0.0]])
    alone = literal.independent(rows, replace(PLAIN, scale=4.0))
    assert [*alone.CI, alone.unseen.CI] == pytest.approx([1 / 2, 1, 1])
    index, estimates, widths, scores = alone.decide(0, actions)
    assert index == 1
    assert estimates == pytest.approx([4, 6, 6, 10])
    assert widths == pytest.approx([4, 4, 4, 10])
    assert scores == pytest.approx([0, 2, 2, 0])
    optimistic = literal.independent(rows, replace(PLAIN, scale=4.0, sign=1)).decide(0, actions)
    assert optimistic[0] == 3
    assert optimistic[3] == pytest.approx([8, 10, 10, 20])
    squared = literal.independent(rows, replace(PLAIN, scale=4.0, form="squared", sign=0)).decide(0, actions)
    assert squared[0] == 3
    assert squared[2] == pytest.approx([4, 4, 4, 25])
    assert squared[3] == squared[1] == estimates
    assert alone.unseen.decide(actions)[2] == pytest.approx([8, 12, 12, 20])

    assert (literal.pooled(rows, PLAIN).neighbours, literal.pooled(rows, PLAIN).unseen.n_pooled) == (
        [[0, 1]] * 2,
        3,
    )
    assert literal.oracle([*rows, rows[0]], ["x", "y", "x"], PLAIN).neighbours == [[0, 2], [1], [0, 2]]
    assert literal.oracle(rows, ["x", "x"], PLAIN).unseen.neighbours == [2]

    smooth = replace(PLAIN, regularity=("smoothed", 0.5), min_samples=0, gap=100.0)
    assert literal.off_club(rows, smooth).neighbours == [[0, 1], [0, 1]]
    assert literal.off_club(rows, smooth).unseen.neighbours == [0, 1, 2]
    assert literal.off_c2lub(rows, smooth).neighbours == [[0], [1]]
    zero = literal.off_club(rows, replace(smooth, alpha=0.0))
    assert (zero.neighbours, zero.unseen.neighbours) == ([[0, 1], [0, 1]], [0, 1, 2])
    assert zero.margin[0][1] == math.inf
    finite = literal.off_club(rows, replace(PLAIN, alpha=0.0))
    assert (finite.neighbours, finite.unseen.neighbours) == ([[0], [1]], [1, 2])
    assert finite.margin[0][1] == pytest.approx(math.sqrt(8))
    assert literal.off_c2lub(rows, replace(smooth, alpha=0.0)).neighbours == [[0], [1]]


def test_off_c2lub_users_from_whom_nobody_is_separated() -> None:
    """The world of one lender with alpha = 3/2, in eighths: alpha(CI+CI) 0-1 12, 0-2 9, 1-2 9.

    Gamma: 0-1 6-12, 0-2 13-9 = 4, 1-2 7-9, so M = {2}, {}, {0}; Gamma_tilde 18, 22, 16;
    over: 22, 0, 22, global 22.
    own: 1 lends to 0 (18 < 22) and to 2 (16 < 22), nobody to 1; global: also 0 and 2 to 1.
    Unseen: alpha(CI+CI) 18, 18, 15, all Gamma < 0, gap 0; Gamma_tilde 18, 24, 28; global 22 takes 0.
    One user, theta 2, CI 1/2, alpha = 1: her gap and the global one are 0, the unseen user has 2 + 3/2.
    """
    rows = [ones(0, 0, 0), ones(1, 1, 1), ones(*[1] * 14, 12)]
    own = literal.off_c2lub(rows, replace(PLAIN, alpha=1.5))
    assert [*own.gap, own.unseen.gap] == pytest.approx([22 / 8, 0, 22 / 8, 0])
    assert [*own.neighbours, own.unseen.neighbours] == [[0, 1], [1], [1, 2], [3]]
    shared = literal.off_c2lub(rows, replace(PLAIN, alpha=1.5, sharing="global"))
    assert [*shared.gap, shared.unseen.gap] == pytest.approx([22 / 8] * 4)
    assert [*shared.neighbours, shared.unseen.neighbours] == [[0, 1], [0, 1, 2], [1, 2], [0, 3]]
    single = [ones(2, 3, 3)]
    assert literal.off_c2lub(single, PLAIN).unseen.gap == pytest.approx(7 / 2)
    assert literal.off_c2lub(single, replace(PLAIN, sharing="global")).unseen.gap == 0
