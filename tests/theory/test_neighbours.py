"""Ranges and concrete sets by hand, and against what the edge rule does on simulated worlds.

Delta = 2 U / e makes L = log(2 U / delta) = 1 and the ranges readable.
"""

import math

import numpy as np
import pytest

from coterie import theory
from coterie.confidence import IID, Confidence, Observed
from coterie.errors import ParameterError

ONE = 2 / math.e  # for U = 1
RIDGE = 8.0


def test_homogeneous_range_by_hand() -> None:
    """x = 0.25, alpha = 1, d = 4, L = 1: 0.5 / (4 * 2 * 2) = 0.03125 and 0.5 / 2 = 0.25."""
    assert theory.homogeneous_range(1, 4, ONE, 0.25) == pytest.approx((0.03125, 0.25))


def test_one_dimension_counts_as_two() -> None:
    assert theory.homogeneous_range(1, 1, ONE, 0.25)[0] == theory.homogeneous_range(1, 2, ONE, 0.25)[0]


def test_heterogeneous_range_by_hand() -> None:
    """x = 0.25, alpha = 1.5, L = 1: 0.5 / (2 * 0.5) = 0.5."""
    low, high = theory.heterogeneous_range(1, ONE, 0.25, graph_scale=1.5)
    assert low == 0
    assert high == pytest.approx(0.5)
    assert theory.heterogeneous_range(1, ONE, 0.25)[1] == math.inf


def test_noise_divides_every_range() -> None:
    quiet = theory.homogeneous_range(5, 3, 0.1, IID(0.2), noise=0.5)
    assert quiet == pytest.approx([2 * end for end in theory.homogeneous_range(5, 3, 0.1, IID(0.2))])


def test_underestimation_factor_is_the_lower_end() -> None:
    """alpha = 3, x = 1, d = 9, L = 1: 1 / (4 * 4 * 3) = 1/48."""
    assert theory.underestimation_factor(1, 9, ONE, 1.0, graph_scale=3.0) == pytest.approx(1 / 48)


@pytest.mark.parametrize("scale", [0.1, 0.0, math.nan, math.inf])
def test_below_scale_one_the_lemma_says_nothing(scale: float) -> None:
    with pytest.raises(ParameterError, match="the lemma on neighbour sets holds from 1 on"):
        theory.homogeneous_range(1, 2, 0.1, 1.0, graph_scale=scale)


def sets(**change: object) -> theory.ConcreteSets:
    """Four users, the first served; the second is alike, the third 0.5 away, the fourth too scarce.

    U = 4, delta = 8 / e^2: L = 2. x = 1, d = 2, so N_min = 16 log(8 * 4 * 2 * e^2 / 8) = 16 * 4.079 = 65.3.
    alpha = 2: alpha_r from 1 / (12 * 2) = 0.041667 to 1 / (4 sqrt 2) = 0.17678; alpha_w up to
    1 / (2 sqrt 2) = 0.35355. All s_v of the first three are 2 / 100 = 0.02.
    """
    arguments: dict[str, object] = {
        "same_cluster": [True, True, False, True],
        "distance": [0.0, 0.0, 0.5, 0.0],
        "gap": 0.6,
        "true_gap": 0.5,
        "dim": 2,
        "confidence": Confidence(ridge=1.0, failure_prob=8 / math.e**2 / 10, regularity=IID(1.0)),
        "graph_scale": 2.0,
    }
    return theory.concrete_sets(0, [1e4, 1e4, 1e4, 60.0], **(arguments | change))  # type: ignore[arg-type]


def test_concrete_sets_by_hand() -> None:
    """The probability must be below 1, so delta = 0.8 / e^2: L = 2 + log 10 = 4.3026, root 2.0743.

    alpha_r low = 1 / (12 * 2.0743 * sqrt 2) = 0.028408, times 0.6 = 0.017045 < 0.02: not certain.
    alpha_r high = 1 / (4 * 2.0743) = 0.12052, times 0.6 = 0.0723 >= 0.02: possible.
    alpha_w high = 1 / (2 * 2.0743) = 0.24105, times (0.6 - 0.5) = 0.0241 >= 0.02: may be pooled.
    """
    found = sets()
    assert found.homogeneous.tolist() == [True, False, False, False]
    assert found.heterogeneous.tolist() == [False, False, True, False]
    assert found.possible.tolist() == [True, True, True, False]
    assert (found.homogeneous_count, found.n_possible) == (1e4, 3)
    assert found.share == pytest.approx(0.5)  # (1 + 10000) / (2 + 20000)


def test_a_wider_gap_makes_the_user_alike_certain() -> None:
    """0.028408 * 0.8 = 0.0227 >= 0.02."""
    found = sets(gap=0.8)
    assert found.homogeneous.tolist() == [True, True, False, False]
    assert found.share == pytest.approx(1 / 3)


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("gap", [0.0, 0.3, 0.5])
def test_nobody_unlike_where_the_gap_does_not_exceed_the_true_one(gap: float, scale: float) -> None:
    assert not sets(gap=gap, graph_scale=scale).heterogeneous.any()


def test_at_scale_one_only_distance_keeps_out() -> None:
    assert sets(graph_scale=1.0, gap=0.5001).heterogeneous.tolist() == [False, False, True, False]
    assert not sets(graph_scale=1.0, gap=0.6, distance=[0, 0, 0.7, 0]).heterogeneous.any()


def test_below_n_min_the_user_stands_alone() -> None:
    confidence = Confidence(regularity=IID(1.0))
    alone = theory.concrete_sets(
        0, [0.0, 1e6], same_cluster=[True, True], distance=[0.0, 0.0], gap=9.0, true_gap=1.0, dim=2,
        confidence=confidence,
    )  # fmt: skip
    assert alone.possible.tolist() == [True, False]
    assert alone.share == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match="same_cluster has shape"):
        sets(same_cluster=[True])
    with pytest.raises(ParameterError, match="one distance per user"):
        sets(distance=[0.0])
    with pytest.raises(ParameterError, match="a statement in terms of counts"):
        sets(confidence=Confidence())
    with pytest.raises(ParameterError, match="noise is 'estimate'"):
        sets(confidence=Confidence(noise="estimate", regularity=IID(1.0)))
    assert isinstance(Confidence().regularity, Observed)


class World:
    """Ten users in d = 2, unit actions (x = 1/2), noise 1; the paper's formulas in loops.

    The ridge is 8 so that both conditions of the lemma hold: 3000 / 16 <= 2 * 10 / 0.1 - 1, and
    8 <= 2 log(1 + 600 / 16) + 2 log 200.
    """

    def __init__(self, seed: int, first: tuple[float, ...] = (0.9,) * 5 + (-0.9,) * 5) -> None:
        rng = np.random.default_rng(seed)
        self.theta = np.column_stack([first, np.zeros(10)])
        self.count = rng.integers(600, 3000, size=10).astype(float)
        self.confidence = Confidence(ridge=RIDGE, failure_prob=0.1, regularity=IID(0.5))
        self.estimate = np.empty((10, 2))
        self.radius = np.empty(10)
        for u, n in enumerate(self.count.astype(int)):
            angle = rng.uniform(0, 2 * math.pi, n)
            a = np.column_stack([np.cos(angle), np.sin(angle)])
            r = a @ self.theta[u] + rng.standard_normal(n)
            self.estimate[u] = np.linalg.solve(RIDGE * np.eye(2) + a.T @ a, a.T @ r)
            wide = math.sqrt(2 * math.log(1 + n / (RIDGE * 2)) + 2 * math.log(200)) + math.sqrt(RIDGE)
            self.radius[u] = wide / math.sqrt(0.5 * n / 2)
        self.apart = np.linalg.norm(self.estimate[:, None] - self.estimate, axis=2)
        self.true_apart = np.linalg.norm(self.theta[:, None] - self.theta, axis=2)
        self.slack = self.radius[:, None] + self.radius


@pytest.mark.statistical
def test_overestimated_gap_is_at_least_the_true_one() -> None:
    """Theorem "Effect of Overestimation Policy" at alpha = 1; it may fail in 3 delta / 2 = 15 %."""
    assert theory.check_conditions(World(0).count, 2, World(0).confidence).holds
    bad = served = 0
    for seed in range(40):
        world = World(seed)
        lower, upper = world.apart - world.slack, world.apart + world.slack
        for u in range(10):
            separated = [v for v in range(10) if v != u and lower[u, v] > 0]
            served += bool(separated)
            bad += bool(separated) and min(upper[u, v] for v in separated) < 1.8
    assert served > 100
    assert bad <= 0.15 * served


@pytest.mark.statistical
def test_pooled_users_lie_between_the_concrete_sets() -> None:
    """R~ is within R, W within W~, V within `possible`: at least in 1 - 3 delta / 2 of the cases."""
    bad = total = joined = 0
    for seed in range(20):
        world = World(seed)
        for gap, scale in ((1.5, 1.0), (2.1, 1.0), (2.6, 1.2)):
            for u in range(10):
                edges = (world.apart[u] < gap - scale * world.slack[u]) | (np.arange(10) == u)
                alike = world.true_apart[u] == 0
                found = theory.concrete_sets(
                    u, world.count, same_cluster=alike, distance=world.true_apart[u], gap=gap, true_gap=1.8,
                    dim=2, confidence=world.confidence, graph_scale=scale,
                )  # fmt: skip
                inside = (
                    not (found.homogeneous & ~edges).any()
                    and not (edges & ~alike & ~found.heterogeneous).any()
                    and not (edges & ~found.possible).any()
                )
                bad, total, joined = bad + (not inside), total + 1, joined + int(edges.sum()) - 1
    assert joined > 500
    assert bad <= 0.15 * total


@pytest.mark.statistical
def test_underestimation_pools_only_scarce_users_unlike() -> None:
    """Theorem "Effect of Underestimation Policy" at alpha = 1: two near clusters and a far one."""
    factor = theory.underestimation_factor(10, 2, 0.1, 0.5)
    pooled = bad = 0
    for seed in range(20):
        world = World(seed, first=(0.9, 0.9, 0.9, 0.6, 0.6, -0.9, -0.9, -0.9, -0.9, -0.9))
        lower = world.apart - world.slack
        for u in range(10):
            gap = min((lower[u, v] for v in range(10) if v != u and lower[u, v] > 0), default=0.0)
            for v in np.flatnonzero((world.apart[u] < gap - world.slack[u]) & (world.true_apart[u] > 0)):
                scarcity = 1 / math.sqrt(world.count[u]) + 1 / math.sqrt(world.count[v])
                pooled += 1
                bad += scarcity < factor * world.true_apart[u, v]
    assert pooled > 20
    assert bad <= 0.15 * pooled
