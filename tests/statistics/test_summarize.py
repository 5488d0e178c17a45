"""Sums of a log against NumPy's, for many users, threads and dimensions."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie as ct
from coterie.errors import LogError
from coterie.statistics import merge, partial_sums


def log(n: int, dim: int, users: int, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, users, n), rng.normal(size=(n, dim)), rng.normal(size=n), rng.integers(0, 4, n) / 2


@pytest.mark.parametrize("dim", [1, 2, 32, 33])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_numpy(dim: int, weighted: bool) -> None:
    user, action, reward, weight = log(3000, dim, 40)
    given = ct.Logs.from_arrays(user * 10 - 7, action, reward, weight=weight if weighted else None)
    stats = ct.summarize(given)
    w = weight if weighted else np.ones(len(user))
    assert stats.users.tolist() == [10 * u - 7 for u in range(40)]
    one_hot = (user[:, np.newaxis] == np.arange(40)) * w[:, np.newaxis]
    np.testing.assert_allclose(stats.count, one_hot.sum(axis=0))
    np.testing.assert_allclose(stats.moment, one_hot.T @ (reward[:, np.newaxis] * action), atol=1e-11)
    np.testing.assert_allclose(stats.gram, np.einsum("nu,ni,nj->uij", one_hot, action, action), atol=1e-11)
    np.testing.assert_allclose(stats.reward_square, one_hot.T @ reward**2, atol=1e-11)
    used = np.linalg.norm(action[w > 0], axis=1).max()
    assert stats.max_norm == pytest.approx(used, rel=1e-14)


@pytest.mark.parametrize("text", [False, True])
def test_more_users_than_the_first_tables_hold(text: bool) -> None:
    """20,000 users in batches of 700 rows: each has the two rows that it was given."""
    ids = np.random.default_rng(1).permutation(np.repeat(np.arange(20_000), 2))
    names: Any = [f"user {i:05d}" for i in ids] if text else ids * 2**40 - 2**53
    table = pa.table({"u": names, "x": np.ones(40_000), "r": ids.astype(np.float64)})
    stats = ct.summarize(ct.read_logs(table, user="u", action="x", reward="r", batch_rows=700))
    assert stats.n_users == 20_000
    assert (stats.count == 2).all()
    np.testing.assert_array_equal(stats.moment[:, 0], 2.0 * np.arange(20_000))
    assert stats.users[123] == ("user 00123" if text else 123 * 2**40 - 2**53)


def test_threads_and_batches_agree_to_the_last_bit() -> None:
    user, action, reward, weight = log(5000, 5, 100)
    columns = {"u": user, "r": reward, "w": weight, **{f"x{j}": action[:, j] for j in range(5)}}
    named: dict[str, Any] = {"user": "u", "reward": "r", "weight": "w", "action": [f"x{j}" for j in range(5)]}
    first = ct.summarize(ct.read_logs(pa.table(columns), **named), threads=1)
    for threads, batch_rows in ((2, 64), (3, 5000), (8, 1000)):
        other = ct.summarize(ct.read_logs(pa.table(columns), **named, batch_rows=batch_rows), threads=threads)
        for name in ("users", "count", "moment", "packed_gram", "reward_square"):
            np.testing.assert_array_equal(getattr(first, name), getattr(other, name))


def test_a_user_of_weight_zero_is_known_and_has_no_data() -> None:
    logs = ct.Logs.from_arrays(["a", "b"], [[3.0], [1.0]], [5.0, 1.0], weight=[0.0, 1.0])
    stats = ct.summarize(logs)
    assert (stats.users.tolist(), stats.count.tolist(), stats.max_norm) == (["a", "b"], [0, 1], 1)
    assert not stats.moment[0].any()
    assert not stats.packed_gram[0].any()


def test_weight_two_is_the_row_twice() -> None:
    once = ct.summarize(ct.Logs.from_arrays([1, 2], [[0.5, 2.0], [1.0, 1.0]], [0.25, 1.0], weight=[2, 1]))
    twice = ct.summarize(
        ct.Logs.from_arrays([1, 2, 1], [[0.5, 2.0], [1.0, 1.0], [0.5, 2.0]], [0.25, 1.0, 0.25])
    )
    for name in ("count", "moment", "packed_gram", "reward_square"):
        np.testing.assert_array_equal(getattr(once, name), getattr(twice, name))


def test_progress_ends_at_the_number_of_rows() -> None:
    seen: list[tuple[str, int, int | None]] = []

    def progress(what: str, done: int, total: int | None) -> None:
        seen.append((what, done, total))

    table = pa.table({"u": [1, 2, 3], "x": [1.0, 1.0, 1.0], "r": [1.0, 1.0, 1.0]})
    ct.summarize(ct.read_logs(table, user="u", action="x", reward="r", batch_rows=2), progress=progress)
    assert seen == [("reading rows", 2, 3), ("reading rows", 3, 3)]


def test_text_then_integers_is_refused() -> None:
    """Streams cannot do it, folders can: see the tests of logs; here the table of ids itself."""
    from coterie.statistics.tables import IntegerTable, TextTable

    text = TextTable()
    assert text.rows(pa.array(["b", "a", "b"], pa.large_string())).tolist() == [0, 1, 0]
    with pytest.raises(LogError, match=r"is an integer where the users before are text"):
        text.rows(np.array([1]))
    integers = IntegerTable(np.dtype(np.int64))
    assert integers.rows(np.array([5, 5, -1])).tolist() == [0, 0, 1]
    with pytest.raises(LogError, match=r"user 'a' is text where the users before are integers"):
        integers.rows(pa.array(["a"]))
    with pytest.raises(LogError, match=r"below 0 and above 2\*\*63 - 1"):
        integers.rows(np.array([2**63], np.uint64))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_watcher_sees_every_batch_once_in_the_order_of_the_log(threads: int) -> None:
    user, action, reward, _ = log(1000, 2, 5)
    rows = pa.table({"user": user, "a": action[:, 0], "b": action[:, 1], "reward": reward})
    logs = ct.read_logs(rows, user="user", action=["a", "b"], reward="reward", batch_rows=64)
    seen: list[Any] = []
    watched = ct.summarize(logs, threads=threads, watch=seen.append)
    np.testing.assert_array_equal(np.concatenate([batch.reward for batch in seen]), reward)
    assert len(seen) > 1
    np.testing.assert_array_equal(watched.moment, ct.summarize(logs).moment)


@pytest.mark.parametrize("numbers", [1, 700, 10_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_holding_batches_makes_no_difference_to_the_last_bit(
    numbers: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 users, so that batches of 100 rows are held: as many as there is room for, or none."""
    user, action, reward, weight = log(6000, 3, 2000)
    columns = {"u": user, "r": reward, "w": weight, **{f"x{j}": action[:, j] for j in range(3)}}
    named: dict[str, Any] = {"user": "u", "reward": "r", "action": ["x0", "x1", "x2"]}
    named |= {"weight": "w"} if weighted else {}
    whole = ct.summarize(ct.read_logs(pa.table(columns), **named), threads=1)
    monkeypatch.setattr("coterie.statistics.totals._HELD", numbers)
    other = ct.summarize(ct.read_logs(pa.table(columns), **named, batch_rows=100), threads=2)
    for name in ("users", "count", "moment", "packed_gram", "reward_square", "longest"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(other, name))


def test_parts_summed_apart_and_merged_are_the_whole() -> None:
    """A user in both parts, one in each; integers, so that no rounding is in the way."""
    user, action, reward = [1, 2, 1, 3], [[1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 2.0, 2.0]
    logs = ct.Logs.from_arrays(user, action, reward)
    halves = [ct.Logs.from_arrays(user[part], action[part], reward[part]) for part in (slice(2), slice(2, 4))]
    merged = merge([partial_sums(half.batches(), threads=2) for half in halves])
    whole = ct.summarize(logs)
    for name in ("users", "count", "moment", "packed_gram", "reward_square", "longest"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(merged, name))
    with pytest.raises(LogError, match=r"^there are no partial sums to merge; at least one is required$"):
        merge([])


@pytest.mark.parametrize("kind", ["float", "double"])
def test_numbers_of_32_bits_are_summed_as_64(kind: str, tmp_path: Any) -> None:
    """Halves and quarters, which both kinds hold."""
    rng = np.random.default_rng(3)
    action = rng.integers(-4, 5, (500, 3)) / 4
    rows = {"u": rng.integers(0, 9, 500), "r": np.ones(500)}
    typed = {f"x{j}": pa.array(action[:, j], pa.float64()).cast(kind) for j in range(3)}
    pq.write_table(pa.table(rows | typed), tmp_path / "log.parquet", row_group_size=60)
    named: dict[str, Any] = {"user": "u", "reward": "r", "action": ["x0", "x1", "x2"]}
    stats = ct.summarize(ct.read_logs(tmp_path / "log.parquet", **named, batch_rows=100))
    whole = ct.summarize(ct.Logs.from_arrays(rows["u"], action, rows["r"]))
    np.testing.assert_array_equal(stats.packed_gram, whole.packed_gram)
    np.testing.assert_array_equal(stats.count, whole.count)
