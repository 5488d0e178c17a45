"""Every command does what its options say, and what the Python interface does with the same."""

import shlex
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pytest
from tests.cli.program import COLUMNS, FEATURES, done, events, fitted, item_table, parsed, run, write

import coterie as ct
from coterie.cli import app

NAMED: dict[str, Any] = {"user": "user", "reward": "reward"}
RIDGE_2 = ct.Confidence(ridge=2)
ESTIMATED = ct.Confidence(noise="estimate")


def assert_same_model(path: Path, wanted: Any) -> None:
    """The file holds the model: the same settings, users, columns and numbers."""
    found = ct.load(path)
    for name in (
        "algorithm",
        "parameters",
        "confidence",
        "bonus",
        "features",
        "intercept",
        "scale",
        "report",
    ):
        assert getattr(found, name) == getattr(wanted, name), name
    assert found.users.tolist() == wanted.users.tolist()
    np.testing.assert_array_equal(found.policy.theta, wanted.policy.theta)
    np.testing.assert_array_equal(found.policy.factor, wanted.policy.factor)


@pytest.mark.parametrize(
    ("action", "columns"),
    [
        (["f*"], list(FEATURES)),
        (["f10,f1"], ["f10", "f1"]),
        (["f10", "f1"], ["f10", "f1"]),
        (["f2", "f*", "f1, "], ["f2", "f1", "f10"]),
        (["f[0-9]"], ["f1", "f2"]),
        (["vector"], "vector"),
        (["f2"], "f2"),
    ],
)
def test_fit_takes_the_action_columns_named(action: list[str], columns: Any, tmp_path: Path) -> None:
    log, out = write(events(), tmp_path / "events.parquet"), tmp_path / "model"
    named = [part for name in action for part in ("--action", name)]
    done("fit", log, "--user", "user", *named, "--reward", "reward", "--noise", "estimate", "--out", out)
    wanted = ct.OffC2LUB(confidence=ESTIMATED).fit(ct.read_logs(log, action=columns, **NAMED))
    assert_same_model(out, wanted)


@pytest.mark.parametrize("source", ["events.csv", "part*.parquet", "."])
def test_fit_reads_csv_globs_and_folders(source: str, tmp_path: Path) -> None:
    if source == "events.csv":
        write(events(), tmp_path / source)
    else:
        write(events().slice(0, 250), tmp_path / "part1.parquet")
        write(events().slice(250), tmp_path / "part2.parquet")
    out = tmp_path / "model"
    done("fit", tmp_path / source, *COLUMNS, "--algorithm", "pooled", "--out", out)
    logs = ct.read_logs(events(), action=FEATURES, **NAMED)
    found, wanted = ct.load(out), ct.Pooled().fit(logs)
    assert found.report.n_samples == 600
    np.testing.assert_allclose(found.theta, wanted.theta, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::coterie.CoterieWarning")
@pytest.mark.parametrize("options", [[], ["--weight", "weight"], ["--intercept"]])
def test_fit_takes_items_weights_and_an_intercept(options: list[str], tmp_path: Path) -> None:
    log, items = write(events(), tmp_path / "log.parquet"), write(item_table(), tmp_path / "items.csv")
    out = tmp_path / "model"
    item = ("--item", "item", "--items", items)
    named = ("--user", "name", *item, "--reward", "reward", "--algorithm", "independent")
    done("fit", log, *named, *options, "--out", out)
    more: dict[str, Any] = {"weight": "weight"} if "--weight" in options else {}
    more |= {"intercept": True} if "--intercept" in options else {}
    logs = ct.read_logs(log, user="name", reward="reward", item="item", items=str(items), **more)
    assert_same_model(out, ct.Independent().fit(logs))
    assert ct.load(out).users.dtype.kind == "U"


def test_fit_drops_bad_rows_and_says_how_many_of_which_kind(tmp_path: Path) -> None:
    reward = events()["reward"].to_pylist()
    reward[3], reward[5], reward[7] = float("nan"), float("inf"), None
    log = write(events().set_column(8, "reward", pa.array(reward)), tmp_path / "log.parquet")
    ran = done("fit", log, *COLUMNS, "--algorithm", "pooled", "--on-bad", "drop", "--out", tmp_path / "m")
    assert ran.err == (
        "coterie: note: 3 rows were left out: 2 with NaN or no number in the reward (column 'reward'); "
        "1 with infinity in the reward (column 'reward')\n"
    )
    assert ct.load(tmp_path / "m").report.n_samples == 597


OPTIONS: list[tuple[str, Any]] = [
    ("", ct.OffC2LUB()),
    ("--algorithm off-c2lub --gap under", ct.OffC2LUB(gap="under")),
    ("--gap 0.75 --noise 0.1", ct.OffC2LUB(gap=0.75, confidence=ct.Confidence(noise=0.1))),
    ("--sharing mutual --noise estimate", ct.OffC2LUB(sharing="mutual", confidence=ESTIMATED)),
    ("--sharing global --noise estimate", ct.OffC2LUB(sharing="global", confidence=ESTIMATED)),
    ("--min-samples 45 --noise estimate", ct.OffC2LUB(min_samples=45, confidence=ESTIMATED)),
    ("--graph-scale 2.5", ct.OffC2LUB(graph_scale=2.5)),
    (
        "--algorithm off-club --graph-scale 0.5 --ridge 2",
        ct.OffCLUB(graph_scale=0.5, confidence=ct.Confidence(ridge=2)),
    ),
    ("--algorithm independent", ct.Independent()),
    ("--algorithm pooled", ct.Pooled()),
    ("--algorithm mixture", ct.Mixture(confidence=ct.Confidence())),
    ("--ridge 0.2", ct.OffC2LUB(confidence=ct.Confidence(ridge=0.2))),
    ("--failure-prob 0.2", ct.OffC2LUB(confidence=ct.Confidence(failure_prob=0.2))),
    ("--theta-bound 3", ct.OffC2LUB(confidence=ct.Confidence(theta_bound=3))),
    ("--regularity observed", ct.OffC2LUB()),
    ("--regularity smoothed:0.1", ct.OffC2LUB(confidence=ct.Confidence(regularity=ct.Smoothed(0.1)))),
    ("--regularity iid:0.2", ct.OffC2LUB(confidence=ct.Confidence(regularity=ct.IID(0.2)))),
    ("--sign greedy", ct.OffC2LUB(bonus=ct.Bonus(sign=0))),
    ("--sign optimistic", ct.OffC2LUB(bonus=ct.Bonus(sign=1))),
    ("--form squared", ct.OffC2LUB(bonus=ct.Bonus(form="squared"))),
    ("--scale 0.5", ct.OffC2LUB(bonus=ct.Bonus(scale=0.5))),
]


@pytest.mark.filterwarnings("ignore::coterie.CoterieWarning")
@pytest.mark.parametrize(("options", "algorithm"), OPTIONS, ids=[text or "defaults" for text, _ in OPTIONS])
def test_every_option_reaches_the_parameter_it_names(options: str, algorithm: Any, tmp_path: Path) -> None:
    log, out = write(events(), tmp_path / "events.parquet"), tmp_path / "model"
    done("fit", log, *COLUMNS, "--out", out, *options.split())
    assert_same_model(out, algorithm.fit(ct.read_logs(log, action=FEATURES, **NAMED)))


def test_no_rescale_leaves_long_actions_alone(tmp_path: Path) -> None:
    long = events().set_column(4, "f1", pa.array(events()["f1"].to_numpy() * 3))
    log, out = write(long, tmp_path / "log.parquet"), tmp_path / "model"
    assert "model.scale" in done("fit", log, *COLUMNS, "--out", out).err
    assert ct.load(out).scale > 1
    assert "--no-rescale" in done("fit", log, *COLUMNS, "--no-rescale", "--out", out).err
    assert ct.load(out).scale == 1


def test_compact_says_what_is_lost(tmp_path: Path) -> None:
    out = fitted(tmp_path)
    whole = ct.load(out)
    ran = done("fit", tmp_path / "events.parquet", *COLUMNS, "--noise", "estimate", "--compact", "--out", out)
    assert ran.err.startswith("coterie: note: saved compact: decisions stay the same; ")
    np.testing.assert_array_equal(ct.load(out).policy.theta, whole.policy.theta)
    assert run("explain", out, 3).status == 1


@pytest.mark.parametrize("form", ["json", "csv"])
def test_fit_prints_its_report_for_programs(form: str, tmp_path: Path) -> None:
    log, out = write(events(), tmp_path / "log.parquet"), tmp_path / "model"
    (row,) = parsed(done("fit", log, *COLUMNS, "--out", out, "--format", form), form)
    report = ct.load(out).report
    assert row["algorithm"] == "Off-C2LUB"
    assert float(row["n_samples"]) == report.n_samples == 600
    assert row["notes"] == (list(report.notes) if form == "json" else " ".join(report.notes))
    assert row["model"] == str(out)
    table = done("fit", log, *COLUMNS, "--out", out).out
    assert table.startswith(f"{report}".splitlines()[0])
    assert table.endswith(
        "--noise estimate or a smaller --graph-scale narrows the radii, and a larger gap, given as a number, "
        f"joins more users.\nWritten to {out}.\n"
    )


def test_the_group_and_every_command_end_in_an_example_that_parses() -> None:
    context = click.Context(app, info_name="coterie")
    for name in (None, *app.list_commands(context)):
        text = done(*([name] if name else []), "--help").out
        example = text.rpartition("Example:\n")[2].replace("\\\n", " ")
        program, command, *args = shlex.split(example)
        assert program == "coterie"
        assert name in (None, command)
        found = app.get_command(context, command)
        assert found is not None
        assert found.make_context(command, list(args)).params


def test_the_version_is_that_of_the_package() -> None:
    assert done("--version").out == f"coterie, version {ct.__version__}\n"


def test_without_a_command_the_help_is_shown() -> None:
    ran = run()
    assert (ran.out, ran.status) == ("", 2)
    assert ran.err == done("--help").out
