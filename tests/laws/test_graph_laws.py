"""Laws of radii, edges and pooling, and the users on whom nothing is known."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reference import instances
from tests.reference.instances import Instance
from tests.reference.literal import Settings

import coterie as ct
from coterie.packed import unpack

SLOTS = ("off_c2lub", "off_club", "independent", "pooled", "oracle")
quiet = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def fit(name: str, drawn: Instance, chosen: Settings) -> Any:
    return instances.algorithms(chosen, drawn.labels)[name].fit(drawn.logs())


def evidence_of(model: Any) -> Any:
    return model.evidence


def require_equal_service(left: Any, right: Any, drawn: Instance, seed: int) -> None:
    """Same estimates, pools and decisions for all users and for one never seen."""
    np.testing.assert_allclose(left.theta, right.theta, rtol=1e-9, atol=1e-12)
    users = [*drawn.ids, drawn.unseen]
    actions = instances.action_set(np.random.default_rng(seed), drawn.dim, 1)
    one, other = left.decide_many(users, actions), right.decide_many(users, actions)
    for field in ("estimate", "width", "score", "pooled_count", "pooled_users", "seen"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-9, atol=1e-12)
    assert all(left.neighbours(user).tolist() == right.neighbours(user).tolist() for user in users)


@quiet
@settings(max_examples=40)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_gap_zero_gives_independent(seed: int, chosen: Settings) -> None:
    drawn = instances.instance(seed, most=30)
    zero = fit("off_c2lub", drawn, replace(chosen, gap=0.0))
    require_equal_service(zero, fit("independent", drawn, chosen), drawn, seed)


@quiet
@settings(max_examples=40)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS, graph_scale=st.sampled_from([1e6, 1e300]))
def test_a_huge_graph_scale_pools_everybody_under_off_club(
    seed: int, chosen: Settings, graph_scale: float
) -> None:
    drawn = instances.instance(seed, most=30)
    chosen = replace(chosen, theta_bound=max(chosen.theta_bound, 0.01), alpha=graph_scale)  # no radius is 0
    require_equal_service(fit("off_club", drawn, chosen), fit("pooled", drawn, chosen), drawn, seed)


@quiet
@settings(max_examples=60)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS, factor=st.floats(1.0, 3.0))
def test_edges_grow_with_the_gap(seed: int, chosen: Settings, factor: float) -> None:
    """Every lender stays, at any pair of gaps; the sharing makes no difference where the gap is a number."""
    drawn = instances.instance(seed, most=30)
    gap = float(np.random.default_rng(seed).choice([0.01, 0.1, 0.5, 2.0, 20.0]))
    near, far = (fit("off_c2lub", drawn, replace(chosen, gap=g)) for g in (gap, factor * gap))
    for user in [*drawn.ids, drawn.unseen]:
        assert set(near.neighbours(user).tolist()) <= set(far.neighbours(user).tolist())


@quiet
def test_edges_do_grow_with_the_gap() -> None:
    """Three users at 0, 1/2 and 1 on a line, with radii 0: gaps 1/4, 3/4 and 5/4 join 1, 2 and 3 of them."""
    logs = ct.Logs.from_arrays([0, 1, 2], [[1.0]] * 3, [0.0, 1.0, 2.0])
    confidence = ct.Confidence(ridge=1.0, noise=0.0, theta_bound=0.0)
    pools = [
        ct.OffC2LUB(gap=g, confidence=confidence).fit(logs).neighbours(0).tolist() for g in (0.25, 0.75, 1.25)
    ]
    assert pools == [[0], [0, 1], [0, 1, 2]]


@quiet
@pytest.mark.parametrize("name", SLOTS)
@settings(max_examples=25)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_pooled_precision_dominates_each_members(name: str, seed: int, chosen: Settings) -> None:
    """M-tilde_u - M_v has no eigenvalue below 0, and N-tilde_u >= N_v, for every lender v and u herself."""
    drawn = instances.instance(seed, most=20)
    model, stats = fit(name, drawn, chosen), drawn.stats()
    lower = np.tril(unpack(np.asarray(model.policy.factor)))
    for u, user in enumerate(drawn.ids):
        factor = lower[model.policy.group[u]]
        for v in stats.index.rows(model.neighbours(user)).tolist():
            own = chosen.lam * np.eye(drawn.dim) + stats.gram[v]
            assert np.linalg.eigvalsh(factor @ factor.T - own)[0] > -1e-9
            assert model.pooled_count[u] >= stats.count[v]


@quiet
@settings(max_examples=60)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS, value=st.floats(0.01, 10.0), iid=st.booleans())
def test_radius_decreases_in_the_count_under_smoothed_and_iid(
    seed: int, chosen: Settings, value: float, iid: bool
) -> None:
    """Strictly, wherever the multiplier is not 0; a user without data has an infinite one."""
    assume(chosen.noise + chosen.theta_bound > 0)
    drawn = instances.instance(seed, n_users=12)
    model = fit("independent", drawn, replace(chosen, regularity=("iid" if iid else "smoothed", value)))
    count, radius = drawn.stats().count, model.evidence.radius[:-1]
    for u, v in ((u, v) for u in range(12) for v in range(12)):
        assert (radius[u] > radius[v]) == (count[u] < count[v])
        assert (radius[u] == radius[v]) == (count[u] == count[v])
    assert np.array_equal(np.isinf(radius), count == 0)
    assert np.isinf(model.evidence.radius[-1])


@settings(max_examples=40)
@given(
    dim=st.integers(2, 5), n_line=st.integers(0, 4), n_good=st.integers(1, 4), n_empty=st.integers(0, 3),
    rows=st.integers(1, 60),
)  # fmt: skip
def test_observed_warns_once_with_the_number_of_users(
    dim: int, n_line: int, n_good: int, n_empty: int, rows: int
) -> None:
    """Users with one direction only have radius beta(N) / sqrt(ridge), without data beta(0) / sqrt(ridge).

    The good ones have 50 rows along every axis: beta grows by less than sqrt(1 + 50), the root of their
    information.
    """
    line = [(f"line {k}", np.eye(dim)[[0] * rows], 1.0) for k in range(n_line)]
    good = [(f"good {k}", np.tile(np.eye(dim), (50, 1)), 1.0) for k in range(n_good)]
    empty = [(f"none {k}", np.eye(dim)[:1], 0.0) for k in range(n_empty)]
    parts = [*line, *good, *empty]
    user = [name for name, A, _ in parts for _ in A]
    weight = [w for _, A, w in parts for _ in A]
    logs = ct.Logs.from_arrays(user, np.vstack([A for _, A, _ in parts]), np.ones(len(user)), weight=weight)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ct.Independent(confidence=ct.Confidence(ridge=1.0)).fit(logs)
    told = [str(w.message) for w in caught if issubclass(w.category, ct.CoterieWarning)]
    expected = [f"{n_line} of {len(parts)} users have a radius not below that of a user without data"]
    assert [text.partition(":")[0] for text in told] == (expected if n_line else [])
    radius = evidence_of(model).radius
    assert int(np.sum(radius[:-1] > radius[-1])) == n_line


@quiet
@pytest.mark.parametrize("name", ["off_c2lub", "off_club"])
@settings(max_examples=60)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_graph_scale_zero_and_infinite_radii_give_no_nan(name: str, seed: int, chosen: Settings) -> None:
    """No threshold for users without data: joined to everybody under Off-CLUB, to nobody under Off-C2LUB."""
    drawn = instances.instance(seed, most=30)
    chosen = replace(chosen, alpha=0.0, regularity=("iid", 1.0))
    model, count = fit(name, drawn, chosen), drawn.stats().count
    users = [*drawn.ids, drawn.unseen]
    batch = model.decide_many(users, instances.action_set(np.random.default_rng(seed), drawn.dim))
    for numbers in (model.theta, batch.estimate, batch.width, batch.score, batch.pooled_count, model.gap):
        assert numbers is None or np.isfinite(numbers).all()
    for user, n in zip(users, [*count, 0], strict=True):
        told = model.explain(user)
        thresholds = [one.threshold for one in (*told.neighbours, *told.left_out)]
        assert not np.isnan(thresholds).any()
        if n == 0:
            others = [] if name == "off_c2lub" else drawn.ids
            assert {*model.neighbours(user).tolist()} - {user} == {*others} - {user}


def test_users_without_data() -> None:
    """Two users with one row (1, 0) each, one without; no noise, so beta = theta_bound sqrt(ridge) = 1.

    theta = (1/2, 0), (-1/2, 0) and 0. Under Observed every smallest eigenvalue is 1, hence all radii are
    1 and the warning counts all who have data. Under Smoothed(1/2) the radii are 1 / sqrt(1/4) = 2 and
    infinity: joined to everybody under Off-CLUB, to nobody under Off-C2LUB with a very wide gap.
    """
    logs = ct.Logs.from_arrays(["a", "b", "void"], [[1.0, 0.0]] * 3, [1.0, -1.0, 7.0], weight=[1.0, 1.0, 0.0])
    plain = ct.Confidence(ridge=1.0, noise=0.0)
    with pytest.warns(ct.CoterieWarning, match="2 of 3 users have a radius not below"):
        observed = ct.Independent(confidence=plain).fit(logs)
    assert evidence_of(observed).radius.tolist() == [1, 1, 1, 1]
    np.testing.assert_allclose(observed.theta, [[0.5, 0.0], [-0.5, 0.0], [0.0, 0.0]], rtol=1e-15)
    assert observed.decide("void", [[1.0, 0.0]]) == ct.Decision(0, 0.0, 1.0, -1.0, 0.0, 1, True)
    assert observed.decide("never", [[1.0, 0.0]]) == ct.Decision(0, 0.0, 1.0, -1.0, 0.0, 1, False)

    smooth = replace(plain, regularity=ct.Smoothed(0.5))
    apart = ct.OffC2LUB(gap=1e9, min_samples=0, confidence=smooth).fit(logs)
    assert [apart.neighbours(user).tolist() for user in ("a", "void", "never")] == [["a", "b"], ["void"], []]
    with pytest.warns(ct.CoterieWarning, match="ridge 1 is not above"):
        joined = ct.OffCLUB(confidence=smooth).fit(logs)
    assert evidence_of(joined).radius.tolist() == [2, 2, math.inf, math.inf]
    assert joined.neighbours("void").tolist() == joined.neighbours("never").tolist() == ["a", "b", "void"]
    assert joined.decide("never", [[1.0, 0.0]]).pooled_users == 4
    assert joined.theta[2].tolist() == [0, 0]


def test_a_huge_gap_and_an_infinite_radius_give_no_nan() -> None:
    """Whoever has a finite radius is joined, the user without data to nobody."""
    smooth = ct.Confidence(regularity=ct.Smoothed(0.5))
    logs = ct.Logs.from_arrays([1, 2, 3], [[1.0, 0.0]] * 3, [1.0, -1.0, 7.0], weight=[1.0, 1.0, 0.0])
    model = ct.OffC2LUB(gap=1e300, min_samples=0, confidence=smooth).fit(logs)
    assert model.pooled_users.tolist() == [2, 2, 1]
    assert [model.neighbours(user).tolist() for user in (1, 2, 3)] == [[1, 2], [1, 2], [3]]
    assert [one.reason for one in model.explain(1).left_out] == [
        "the other user has too few samples, or an infinite radius"
    ]
