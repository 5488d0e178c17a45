"""What a page carries is what the model and the evaluation say, by other code than that which wrote it."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import coterie as ct
from coterie.neighbourhood import Metric
from coterie.report import page as page_module
from coterie.report import report_page, write_report
from coterie.report.clusters import clusters_of
from coterie.report.plane import principal_plane
from tests.report.pages import carried, evaluation, model

ALGORITHMS = ("OffC2LUB", "OffCLUB", "Independent", "Pooled", "DBSCAN", "Mixture")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_user_is_there_as_the_model_has_her(name: str) -> None:
    fitted = model(name)
    values, arrays = carried(report_page(fitted))
    told = values["model"]
    assert told["users"] == fitted.users.tolist()
    assert arrays["count"].tolist() == fitted.statistics.count.tolist()
    assert arrays["pooled_users"][arrays["group"]].tolist() == fitted.pooled_users.tolist()
    assert arrays["pooled_count"][arrays["group"]].tolist() == fitted.pooled_count.tolist()
    alone = ct.Independent(confidence=fitted.confidence).fit(fitted.statistics)
    assert alone.evidence is not None
    assert arrays["radius"] == pytest.approx(alone.evidence.radius[:-1], rel=1e-3)
    pooled = arrays["pooled_theta"].reshape(-1, fitted.dim)[arrays["group"]]
    assert pooled / fitted.scale == pytest.approx(fitted.theta, abs=1e-3)
    assert arrays["theta"].reshape(-1, fitted.dim) / fitted.scale == pytest.approx(alone.theta, abs=1e-3)


@pytest.mark.parametrize("name", ["OffC2LUB", "OffCLUB"])
def test_a_page_can_tell_who_lends(name: str) -> None:
    """The rule, from the page's rounded numbers, agrees with the model away from the threshold."""
    fitted = model(name)
    _, arrays = carried(report_page(fitted))
    theta = arrays["theta"].reshape(-1, fitted.dim)
    for row in range(0, 60, 7):
        distance = np.linalg.norm(theta - theta[row], axis=1)
        both = arrays["slack"] + arrays["slack"][row]
        threshold = arrays["limit"][row] - both if name == "OffC2LUB" else both
        lends = (distance < threshold) | (np.arange(60) == row)
        clear = np.abs(distance - threshold) > 2e-3
        assert fitted.evidence is not None
        assert (lends == fitted.evidence.neighbourhood.trace(row).lends)[clear].all()
        assert clear.mean() > 0.9


@pytest.mark.parametrize("name", ["OffC2LUB", "OffCLUB"])
def test_sampled_pairs_are_pairs_of_the_model(name: str) -> None:
    fitted = model(name)
    pairs = carried(report_page(fitted))[0]["model"]["pairs"]
    assert pairs["drawn"] == 3000
    assert len(pairs["distance"]) + pairs["infinite"] == 3000
    lending = 0
    for k in range(0, 3000, 10):
        u, v = pairs["first"][k], pairs["second"][k]
        assert fitted.evidence is not None
        trace = fitted.evidence.neighbourhood.trace(u)
        assert pairs["distance"][k] == pytest.approx(trace.distance[v], rel=1e-4)
        assert pairs["threshold"][k] == pytest.approx(trace.threshold[v], rel=1e-4, abs=1e-5)
        lending += int(trace.lends[v])
    assert pairs["lending"] / 3000 == pytest.approx(lending / 300, abs=0.1)  # 3.5 standard deviations


def test_the_sweep_is_what_other_gaps_give() -> None:
    """Lenders at a gap of the axis are those of a model fitted with that gap for all."""
    fitted = model()
    sweep = carried(report_page(fitted))[0]["model"]["sweep"]
    hood = fitted.evidence.neighbourhood if fitted.evidence else None
    assert isinstance(hood, Metric)
    for k in (10, 30, 50):
        other = Metric(hood.theta, hood.slack, np.full(61, sweep["at"][k]), strict=True)
        lends = np.array([other.trace(row).lends for row in range(60)])
        assert sweep["users"]["mean"][k] == pytest.approx(lends.sum(axis=1).mean() - 1, abs=0.05)
        borrowed = lends @ fitted.statistics.count - fitted.statistics.count
        assert sweep["borrowed"]["mean"][k] == pytest.approx(borrowed.mean(), rel=0.01)


def test_the_plane_is_that_of_a_singular_value_decomposition() -> None:
    theta = np.random.default_rng(1).normal(size=(40, 5)) * [3.0, 1, 1, 0.5, 2]
    plane = principal_plane(theta, np.ones(40, bool))
    _, size, right = np.linalg.svd(theta - theta.mean(axis=0))
    assert plane.share == pytest.approx(size[:2] ** 2 / (size**2).sum())
    assert np.abs(plane.at) == pytest.approx(np.abs((theta - theta.mean(axis=0)) @ right[:2].T))
    one = principal_plane(np.array([[1.0], [3.0]]), np.ones(2, bool))
    assert one.at.tolist() == [[-1, 0], [1, 0]]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_clusters_hold_users_who_are_served_together(name: str) -> None:
    fitted = model(name)
    assert fitted.evidence is not None
    hood = fitted.evidence.neighbourhood
    cluster, n = clusters_of(hood, fitted.pooled_users, fitted.statistics.count)
    assert sorted(set(cluster.tolist()) - {-1}) == list(range(n))
    size = np.bincount(cluster[cluster >= 0], minlength=n)
    assert size.tolist() == sorted(size.tolist(), reverse=True)
    assert (size >= 2).all()
    if name == "Pooled":
        assert size.tolist() == [60]
    if name == "Independent":
        assert n == 0
    if name in {"OffCLUB", "Mixture"}:
        truth = np.arange(60) // 20
        order = np.array([3 if u == "<b>" else int(u[1:]) for u in fitted.users.tolist()])
        best = [np.bincount(truth[order][cluster == c]).max() for c in range(n)]
        assert sum(best) / 60 > 0.9  # the simulated clusters


def test_a_mixture_s_page_can_tell_who_shares() -> None:
    fitted = model("Mixture")
    values, arrays = carried(report_page(fitted))
    assert values["model"]["kind"] == "components"
    p = arrays["responsibility"].reshape(60, -1)
    told = fitted.explain("u17")
    shared = p @ p[values["model"]["users"].index("u17")]
    for one in told.neighbours[1:]:
        place = values["model"]["users"].index(one.user)
        assert shared[place] * one.count / told.pooled_count == pytest.approx(one.share, abs=0.01)


def test_an_evaluation_is_carried_whole() -> None:
    values, arrays = carried(report_page(run=evaluation()))
    told, run = values["run"], evaluation()
    assert len(told["scores"]) == len(run.scores)
    assert told["verdicts"][0]["sentence"] == "For all users, use off-c2lub."
    assert told["users"] == {"ids": ["u1", "u2"], "algorithms": ["off-c2lub", "pooled"]}
    assert arrays["run_rows"].tolist() == [2, 2, 3, 3]
    assert arrays["run_error"] == pytest.approx([0.25, 0.5, 2.0, 1.0], rel=1e-3)
    assert values["model"] is None


def test_a_page_asks_no_network_for_anything() -> None:
    page = report_page(model(), evaluation())
    without_names = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"https?://|\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest", without_names)
    assert page.count("<script") == page.count("</script>") == 2


def test_nothing_in_a_log_becomes_markup() -> None:
    page = report_page(model(), title="</title><script>alert(1)</script>")
    assert "<script>alert(1)" not in page
    assert "<b>" not in page.partition("<script id")[0]


def test_a_page_that_would_be_too_large_leaves_out_what_it_can_do_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "MOST_BYTES", page_module._OTHERS + 1)
    _, arrays = carried(report_page(model(), evaluation()))
    assert not {"theta", "pooled_theta", "run_error"} & set(arrays)
    assert {"x", "y", "count", "radius"} <= set(arrays)


def test_a_report_of_nothing_or_of_half_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ct.errors.ParameterError, match="needs a model, an evaluation, or both"):
        report_page()
    with pytest.raises(ct.errors.FileError, match="there is no folder"):
        write_report(tmp_path / "none" / "page.html", model())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model().save(tmp_path / "small", compact=True)
    with pytest.raises(ct.errors.FileError, match="saved with compact=True and has nothing to report"):
        report_page(ct.load(tmp_path / "small"))


@pytest.mark.parametrize("count", [1, 2])
def test_the_smallest_models_have_a_page(count: int) -> None:
    logs = ct.Logs.from_arrays(list(range(count)) * 2, [[1.0]] * (2 * count), [0.5] * (2 * count))
    for algorithm in (ct.OffC2LUB(confidence=ct.Confidence(noise=0.1)), ct.Pooled()):
        values, arrays = carried(report_page(algorithm.fit(logs)))
        assert len(arrays["x"]) == values["model"]["n_users"] == count
