"""Killed at a random moment while writing a model: the old file is intact or the new one complete."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import coterie as ct
from coterie.model import Model

WRITER = """
import sys
from pathlib import Path
import coterie as ct
first, second = ct.load(sys.argv[1]), ct.load(sys.argv[2])
Path(sys.argv[3] + ".ready").touch()
while True:
    first.save(sys.argv[3])
    second.save(sys.argv[3])
"""


def independent(logs: ct.Logs) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)  # a row a user leaves directions unseen
        return ct.Independent(confidence=ct.Confidence(ridge=1.5)).fit(logs)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_a_model_is_the_old_one_or_the_new_one(kills: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    models = []
    for n in (300, 400):
        logs = ct.Logs.from_arrays(np.arange(n), rng.uniform(-0.3, 0.3, (n, 8)), rng.normal(size=n))
        model = independent(logs)
        model.save(tmp_path / f"{n}.coterie")
        models.append((tmp_path / f"{n}.coterie").read_bytes())
    out = tmp_path / "out.coterie"
    names = [str(tmp_path / "300.coterie"), str(tmp_path / "400.coterie"), str(out)]
    seen = set()
    out.write_bytes(models[0])
    for _ in range(kills):
        Path(f"{out}.ready").unlink(missing_ok=True)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, *names], cwd=tmp_path, env=dict(os.environ))
        while not Path(f"{out}.ready").exists() and writer.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.1))
        writer.kill()
        assert writer.wait() == -signal.SIGKILL
        assert out.read_bytes() in models
        assert ct.load(out, verify=True).n_users in {300, 400}
        seen.add(out.read_bytes())
    assert len(seen) == 2 or kills < 50
    ct.load(names[0]).save(out)
    assert [path.name for path in tmp_path.glob(".*")] == []
