"""From a log to decisions at the paper's size, against what else borrows or does not borrow.

1,000 users, 1,000,000 rows, d = 20, 20 actions; from a Parquet file to one decision for every user,
reading included. MABWiser's bandits have arms and contexts, not action vectors, so they get the same
vectors as contexts, the same rewards, and 20 arms; `Clusters` fits a LinUCB in each of ten clusters of
contexts (mini-batch k-means, its faster setting), `Radius` one on the rows near each context that is asked
about. It learns nothing in advance, so its decisions are timed for a few contexts, after the same reading
and fitting, and scaled to all. The loop fits scikit-learn's Ridge to each user's own rows, which borrows
nothing, with its fastest settings: Cholesky, no intercept, rows sorted by user once.
"""

import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.harness import Claim, Measurement, Result, interleaved, isolated, measured, ratio
from numpy.typing import NDArray

import coterie as ct

USERS, ROWS, DIM, ACTIONS, ASKED = 1000, 1_000_000, 20, 20, 5
FEATURES = [f"f{j}" for j in range(DIM)]
_RADIUS = 0.5  # about a hundredth of the rows lie within it

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def run(*, quick: bool = False) -> Result:
    """Seconds from the file to all decisions, of each way."""
    users, rows = (100, 20_000) if quick else (USERS, ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "events.parquet")
        make_file(path, rows, users)
        ways: dict[str, Callable[[], object]] = {
            "coterie, Off-C2LUB": lambda: by_coterie(path),
            "Ridge, a fit per user": lambda: by_ridge(path),
        }
        times = interleaved(ways, rounds=2 if quick else 5)
        clusters = _timed(lambda: by_clusters(path))
        radius, share = _radius(path, users)
        names = {by_coterie: "coterie, Off-C2LUB", by_ridge: "Ridge, a fit per user"}
        peaks = {name: isolated(way, path=path)["peak_mb"] for way, name in names.items()}
    found = measured("from the file to all decisions", times, "coterie, Off-C2LUB", peak_mb=peaks)
    ours = statistics.median(times["coterie, Off-C2LUB"])
    for name, seconds in (("MABWiser, Clusters", clusters), ("MABWiser, Radius (scaled)", radius)):
        found.append(Measurement(found[0].case, name, seconds, seconds, 1, seconds / ours))
    claims = [
        Claim("times faster than MABWiser's faster policy", min(clusters, radius) / ours, 50, at_least=True),
        Claim(
            "times faster than the Ridge loop",
            ratio(times, "Ridge, a fit per user", "coterie, Off-C2LUB"), 3, at_least=True,
        ),
    ]  # fmt: skip
    sizes = {"users": users, "rows": rows, "d": DIM, "actions": ACTIONS, "contexts asked of Radius": ASKED}
    note = f"Deciding is {share:.0%} of the scaled time of Radius."
    return Result("peers", found, claims, sizes, (note,))


def make_file(path: str, rows: int, users: int) -> None:
    """A synthetic log of ten clusters, one column a feature."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from coterie.worlds import Synthetic

    logs = Synthetic(n_users=users, n_clusters=10, dim=DIM).draw(rows, rng=1).logs
    parts = list(logs.batches())
    action = np.concatenate([batch.action for batch in parts])
    columns = {
        "user": np.concatenate([batch.users for batch in parts]),
        **dict(zip(FEATURES, action.T, strict=True)),
        "reward": np.concatenate([batch.reward for batch in parts]),
        "arm": np.random.default_rng(2).integers(0, ACTIONS, len(action)),
    }
    pq.write_table(pa.table(columns), path, row_group_size=1 << 17)


def by_coterie(path: str) -> Ints:
    logs = ct.read_logs(path, user="user", action=FEATURES, reward="reward")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)
        algorithm = ct.OffC2LUB(graph_scale=0.3, confidence=ct.Confidence(noise="estimate"))
        model = algorithm.fit(logs)
    return model.decide_many(model.users, _actions()).index


def by_ridge(path: str) -> Ints:
    from sklearn.linear_model import Ridge

    user, action, reward, _ = _read(path)
    order = np.argsort(user, kind="stable")
    action, reward = action[order], reward[order]
    ids, start = np.unique(user[order], return_index=True)
    choice, actions = np.empty(len(ids), dtype=np.int64), _actions()
    for at, (low, high) in enumerate(zip(start, np.append(start[1:], len(user)), strict=True)):
        ridge = Ridge(alpha=1.0, fit_intercept=False, solver="cholesky", copy_X=False)
        choice[at] = np.argmax(actions @ ridge.fit(action[low:high], reward[low:high]).coef_)
    return choice


def by_clusters(path: str) -> object:
    from mabwiser.mab import MAB, LearningPolicy, NeighborhoodPolicy

    _, action, reward, arm = _read(path)
    bandit = MAB(
        list(range(ACTIONS)), LearningPolicy.LinUCB(), NeighborhoodPolicy.Clusters(10, is_minibatch=True)
    )
    bandit.fit(arm, reward, action)
    return bandit.predict(action[:USERS])


def _radius(path: str, users: int) -> tuple[float, float]:
    """Seconds scaled to a decision for every user, and the share of deciding."""
    from mabwiser.mab import MAB, LearningPolicy, NeighborhoodPolicy

    start = time.perf_counter()
    _, action, reward, arm = _read(path)
    bandit = MAB(list(range(ACTIONS)), LearningPolicy.LinUCB(), NeighborhoodPolicy.Radius(_RADIUS))
    bandit.fit(arm, reward, action)
    fitted = time.perf_counter() - start
    start = time.perf_counter()
    bandit.predict(action[:ASKED])
    deciding = (time.perf_counter() - start) * users / ASKED
    return fitted + deciding, deciding / (fitted + deciding)


def _read(path: str) -> tuple[Ints, Floats, Floats, Ints]:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    action = np.column_stack([table[name].to_numpy() for name in FEATURES])
    return table["user"].to_numpy(), action, table["reward"].to_numpy(), table["arm"].to_numpy()


def _actions() -> Floats:
    """The shared action set."""
    drawn = np.random.default_rng(5).standard_normal((ACTIONS, DIM))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def _timed(run_once: Callable[[], object]) -> float:
    start = time.perf_counter()
    run_once()
    return time.perf_counter() - start
