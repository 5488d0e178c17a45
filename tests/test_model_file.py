"""Models come back from their file as they were, mapped, and a damaged file is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import coterie as ct
from coterie import array_file
from coterie.errors import CoterieWarning, FileError

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

ACTIONS = np.array([[0.6, 0.8], [1.0, 0.0], [-0.5, 0.5], [0.0, -1.0]])
ALGORITHMS: dict[str, Callable[[], Any]] = {
    "OffC2LUB over": lambda: ct.OffC2LUB(graph_scale=0.2),
    "OffC2LUB number": lambda: ct.OffC2LUB(gap=3.0, sharing="mutual", min_samples=2),
    "OffC2LUB under": lambda: ct.OffC2LUB(gap="under", sharing="global", bonus=ct.Bonus(prior="proof")),
    "OffCLUB": lambda: ct.OffCLUB(graph_scale=0.3, confidence=ct.Confidence(regularity=ct.Smoothed(0.2))),
    "OffCLUB estimated": lambda: ct.OffCLUB(
        confidence=ct.Confidence(noise="estimate"), bonus=ct.Bonus(sign=1)
    ),
    "Independent": lambda: ct.Independent(confidence=ct.Confidence(ridge=2.0, theta_bound=3.0)),
    "Pooled": lambda: ct.Pooled(bonus=ct.Bonus(sign=0, form="squared", scale=0.5)),
    "Oracle": lambda: ct.Oracle([0, 1, 0, 2, 1]),
}
IDS: dict[str, list[Any]] = {
    "text": ["ann", "bob", "élan", "d d", "e"],
    "integers": [-7, 3, 10**12, 5, 4],
    "large": [2**63 + 9, 1, 2, 3, 4],
}


def fitted(algorithm: str, ids: str = "text", *, intercept: bool = False, long: float = 1.0) -> Any:
    """Model of five users: 0 and 2 alike, 1 and 4 alike, 3 with one row."""
    rng = np.random.default_rng(0)
    at = np.concatenate([np.tile([0, 1, 2, 4], 20), [3]])
    action = rng.normal(size=(len(at), 2))
    action *= long / np.linalg.norm(action, axis=1, keepdims=True)
    truth = np.array([[1.0, 0.0], [-0.5, 0.5], [1.0, 0.1], [0.0, 1.0], [-0.5, 0.6]])
    reward = np.einsum("ij,ij->i", action, truth[at]) + 0.1 * rng.normal(size=len(at))
    users = np.array([IDS[ids][i] for i in at], dtype=object)
    return ALGORITHMS[algorithm]().fit(ct.Logs.from_arrays(users, action, reward, intercept=intercept))


def require_same(back: Any, model: Any, unknown: object) -> None:
    """Decisions, neighbours and explanations are equal to the last bit."""
    users = [*model.users.tolist(), unknown]
    for user in users:
        assert back.decide(user, ACTIONS) == model.decide(user, ACTIONS)
        assert back.neighbours(user).tolist() == model.neighbours(user).tolist()
        assert repr(back.explain(user)) == repr(model.explain(user))
    ours, theirs = (m.decide_many(users, ACTIONS) for m in (back, model))
    for name in ("index", "estimate", "width", "score", "pooled_count", "pooled_users", "seen"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("users", "theta", "pooled_count", "pooled_users", "gap"):
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
    for name in ("algorithm", "parameters", "confidence", "bonus", "scale", "features", "intercept"):
        assert getattr(back, name) == getattr(model, name)
    assert repr(back.report) == repr(model.report)
    assert str(back.report) == str(model.report)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("intercept", [False, True])
def test_every_algorithm(algorithm: str, intercept: bool, tmp_path: Path) -> None:
    model = fitted(algorithm, intercept=intercept)
    model.save(tmp_path / "m.coterie")
    require_same(ct.load(tmp_path / "m.coterie"), model, "stranger")


@pytest.mark.parametrize("ids", IDS)
def test_every_kind_of_id_and_long_actions(ids: str, tmp_path: Path) -> None:
    """Actions of length 5 are rescaled, and the scale is kept."""
    model = fitted("OffCLUB", ids, long=5.0)
    assert model.scale == pytest.approx(5.0)
    model.save(tmp_path / "m.coterie")
    back = ct.load(tmp_path / "m.coterie")
    require_same(back, model, "stranger" if ids == "text" else 77)
    assert back.users.dtype == model.users.dtype


def test_a_loaded_model_is_mapped(tmp_path: Path) -> None:
    fitted("OffCLUB").save(tmp_path / "m.coterie")
    back = ct.load(tmp_path / "m.coterie")
    for array in (back.users, back.policy.theta, back.policy.factor, back.statistics.packed_gram):
        base = array
        while not isinstance(base, np.memmap):
            base = base.base
        assert not array.flags.writeable


def test_a_loaded_model_can_be_updated_and_fitted_again(tmp_path: Path) -> None:
    """The same as fitting both logs at once."""
    model = fitted("OffCLUB")
    model.save(tmp_path / "m.coterie")
    more = ct.summarize(ct.Logs.from_arrays(["ann", "new"], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.5]))
    named = ct.UserStatistics.from_arrays(
        users=more.users,
        count=more.count,
        moment=more.moment,
        gram=more.gram,
        reward_square=more.reward_square,
    )
    again = ct.OffCLUB().fit(ct.load(tmp_path / "m.coterie").statistics + named)
    at_once = ct.OffCLUB().fit(model.statistics + named)
    np.testing.assert_array_equal(again.theta, at_once.theta)
    assert again.users.tolist() == ["ann", "bob", "d d", "e", "new", "élan"]


@pytest.mark.filterwarnings("error::coterie.errors.CoterieWarning")
@pytest.mark.parametrize("algorithm", ["OffC2LUB over", "Oracle"])
def test_compact(algorithm: str, tmp_path: Path) -> None:
    with pytest.warns(CoterieWarning):  # of the theory, on so few rows
        model = fitted(algorithm)
    model.save(tmp_path / "whole")
    with pytest.warns(CoterieWarning, match=r"^saved compact: decisions stay the same; neighbours, explain"):
        model.save(tmp_path / "compact", compact=True)
    assert (tmp_path / "compact").stat().st_size < (tmp_path / "whole").stat().st_size
    back = ct.load(tmp_path / "compact")
    for user in (*model.users.tolist(), "stranger"):
        assert back.decide(user, ACTIONS) == model.decide(user, ACTIONS)
    np.testing.assert_array_equal(back.theta, model.theta)
    lost: dict[str, Callable[[], Any]] = {
        "neighbours": lambda: back.neighbours("ann"),
        "explanations": lambda: back.explain("ann"),
        "gaps": lambda: back.gap,
        "statistics": lambda: back.statistics,
    }
    for what, ask in lost.items():
        with pytest.raises(
            FileError, match=f"^this model was saved with compact=True and has no {what}; decide"
        ):
            ask()


def test_statistics_are_loaded_by_the_same_door(tmp_path: Path) -> None:
    stats = fitted("Pooled").statistics
    stats.save(tmp_path / "s.coterie")
    back = ct.load(tmp_path / "s.coterie")
    assert isinstance(back, ct.UserStatistics)
    np.testing.assert_array_equal(back.gram, stats.gram)
    fitted("Pooled").save(tmp_path / "m.coterie")
    with pytest.raises(FileError, match=r"holds 'model'; 'statistics' is required here"):
        ct.UserStatistics.load(tmp_path / "m.coterie")


def test_the_safetensors_library_reads_a_model(tmp_path: Path) -> None:
    model = fitted("OffC2LUB over")
    model.save(tmp_path / "m.coterie")
    theirs = safetensors.numpy.load_file(tmp_path / "m.coterie")
    np.testing.assert_array_equal(theirs["policy.theta"], model.policy.theta)
    np.testing.assert_array_equal(theirs["statistics.moment"], model.statistics.moment)


def test_truncated_and_altered_models(tmp_path: Path) -> None:
    """Every tenth, and 300 single bits: refused in one sentence, or read as the very same model."""
    path, model = tmp_path / "m.coterie", fitted("OffCLUB")
    model.save(path)
    whole = path.read_bytes()
    for tenth in range(10):
        refused(path, whole[: tenth * len(whole) // 10])
    refused(path, whole + b" ")
    rng = np.random.default_rng(0)
    read = 0
    for at in rng.integers(0, len(whole), 300).tolist():
        altered = bytearray(whole)
        altered[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(altered)
        try:
            back = ct.load(path)
        except FileError as failure:
            assert "\n" not in str(failure)  # noqa: PT017
        else:
            read += 1
            require_same(back, model, "stranger")
    assert read < 10


def refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"is truncated, altered or foreign: .*; save it again") as failure:
        ct.load(path)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("kind", ["model", "statistics"])
def test_a_file_without_what_a_model_needs(kind: str, tmp_path: Path) -> None:
    """Whole and sealed, and yet no model: made by another hand."""
    array_file.write(tmp_path / "m.coterie", kind, {"users": np.array([1])}, {"algorithm": "OffCLUB"})
    with pytest.raises(FileError, match=r" is missing or of the wrong kind; save it again from its source$"):
        ct.load(tmp_path / "m.coterie")


def test_a_failure_leaves_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted("OffCLUB")
    model.save(tmp_path / "m.coterie")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(FileError, match=r"cannot be written: No space left on device$"):
        fitted("Pooled").save(tmp_path / "m.coterie")
    monkeypatch.undo()
    require_same(ct.load(tmp_path / "m.coterie"), model, "stranger")
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.coterie"]


def test_a_regularity_of_one_s_own_decides_and_is_not_saved(tmp_path: Path) -> None:
    class Counted(ct.IID):
        """A class that no file can name."""

    logs = ct.Logs.from_arrays([1, 2], [[1.0], [0.5]], [1.0, 1.0])
    model = ct.Independent(confidence=ct.Confidence(regularity=Counted(0.5))).fit(logs)
    assert model.decide(1, [[1.0]]).seen
    with pytest.raises(FileError, match=r"^the model was fitted with regularity Counted, .* to save$"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
