"""`coterie demo`: the whole walk on a simulated log, in a few seconds."""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.output import Column, format_option, print_rows, progress_bar
from coterie.errors import FileError

_USERS, _CLUSTERS, _DIM, _ROWS, _NOISE = 300, 5, 8, 30_000, 0.3
_REQUESTS, _ACTIONS = 5_000, 10
_SCALE = 0.3
_LOG = "events.parquet"
_ORACLE = "Oracle: knows the clusters"
_TABLE = {
    "algorithm": Column("algorithm"),
    "gap": Column("reward lost", 5),
    "times_oracle": Column("x oracle", 1),
    "users_pooled": Column("users pooled", 1),
    "noise": Column("noise", 2),
}


@click.command(cls=Command, epilog="Example:  coterie demo --seed 1 --folder demo")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the simulation."
)
@click.option(
    "--folder", metavar="FOLDER", help="Folder to keep the simulated log in (default: a temporary one)."
)
@format_option
def command(seed: int, folder: str | None, form: str) -> None:
    """Simulate a log, fit the algorithms, compare each with the oracle, explain one decision."""
    if folder is not None:
        if Path(folder).is_file():
            raise FileError(f"{folder!r} is a file; name a folder to keep the log in")
        Path(folder).mkdir(parents=True, exist_ok=True)
        _run(seed, Path(folder), form)
        if form == "table":
            click.echo(f"\nThe log is kept in {Path(folder) / _LOG}.")
        return
    with tempfile.TemporaryDirectory() as temporary:
        _run(seed, Path(temporary), form)


def _run(seed: int, folder: Path, form: str) -> None:
    import numpy as np

    import coterie as ct
    from coterie.worlds import Sphere, Synthetic, random_vectors

    settings = Synthetic(n_users=_USERS, n_clusters=_CLUSTERS, dim=_DIM, noise=_NOISE)
    world = settings.draw(_ROWS, np.random.default_rng(seed))
    events = folder / _LOG
    _write(world, events)
    names = [f"f{j}" for j in range(_DIM)]
    logs = ct.read_logs(events, user="user", action=names, reward="reward")
    rng = np.random.default_rng([seed, 1])
    user = rng.integers(0, _USERS, _REQUESTS)
    actions = random_vectors(Sphere(_DIM), (_REQUESTS, _ACTIONS), rng)
    with progress_bar() as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)  # the settings are said in the table
        stats = ct.summarize(logs, progress=progress)
        fitted = _fitted(stats, world.truth.labels)
    rows = _compared(fitted, user, actions, world.truth.theta[user])
    if form != "table":
        print_rows(rows, form)
        return
    click.echo(
        f"Simulated {_ROWS:,} rows of {_USERS} users in {_CLUSTERS} hidden clusters: {_DIM} coordinates, "
        f"noise {_NOISE}, {_ROWS // _USERS} rows a user.\nReward lost per decision, mean over "
        f"{_REQUESTS:,} requests of {_ACTIONS} new actions each (less is better):"
    )
    print_rows(rows, form, _TABLE)
    model = fitted["Off-C2LUB"]
    click.echo(f"\nWhy user {user[0]} is served as she is:\n{model.explain(user[0].item())}")
    click.echo(f"\n{_first_choice(model.decide(user[0], actions[0]))}")


def _first_choice(choice: Any) -> str:
    """One decision in words."""
    return (
        f"Of the {_ACTIONS} actions of her first request she gets number {choice.index}: estimated reward "
        f"{choice.estimate:.3f}, width {choice.width:.3f}, score {choice.score:.3f} (estimate less width)."
    )


def _write(world: Any, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    features = {f"f{j}": world.action[:, j] for j in range(world.action.shape[1])}
    pq.write_table(pa.table({"user": world.user, **features, "reward": world.reward}), path)


def _fitted(stats: Any, labels: Any) -> dict[str, Any]:
    """Models by the name under which they are shown."""
    import coterie as ct

    told = ct.Confidence(noise="estimate")
    algorithms: dict[str, Any] = {
        "Pooled: everybody together": ct.Pooled(confidence=told),
        "Independent: everybody alone": ct.Independent(confidence=told),
        "Off-CLUB, constants as printed": ct.OffCLUB(),
        "Off-C2LUB, constants as printed": ct.OffC2LUB(),
        "Off-CLUB": ct.OffCLUB(confidence=told, graph_scale=_SCALE),
        "Off-C2LUB": ct.OffC2LUB(confidence=told, graph_scale=_SCALE),
        _ORACLE: ct.Oracle(labels, confidence=told),
    }
    return {name: algorithm.fit(stats) for name, algorithm in algorithms.items()}


def _compared(fitted: dict[str, Any], user: Any, actions: Any, theta: Any) -> list[dict[str, Any]]:
    """One row per model: its gap, and the same divided by the oracle's."""
    from coterie.evaluation import mean_gap

    gaps = {name: mean_gap(model, user, actions, theta) for name, model in fitted.items()}
    oracle = gaps[_ORACLE]
    return [
        {
            "algorithm": name,
            "gap": gap,
            "times_oracle": gap / oracle,
            "users_pooled": fitted[name].report.mean_pooled_users,
            "noise": fitted[name].report.noise,
        }
        for name, gap in gaps.items()
    ]
