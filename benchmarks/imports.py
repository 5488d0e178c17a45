"""How long a fresh interpreter needs until Coterie can be used.

Each alternative is a new process; NumPy's own import is the yardstick. The kernels' first use is run
with an empty cache (which is what a new installation pays, once) and with a filled one.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping

from benchmarks.harness import Claim, Measurement, Result, interleaved, measured

_IMPORTS = {
    "nothing": "pass",
    "import numpy": "import numpy",
    "import coterie": "import coterie",
    "import coterie, every public name": "import coterie\nfor name in dir(coterie): getattr(coterie, name)",
    "coterie --help": (
        "import sys; sys.argv = ['coterie', '--help']\nfrom coterie.cli import main\nmain()"
    ),
}
_WALK = """
import numpy as np, coterie as ct
rng = np.random.default_rng(0)
logs = ct.Logs.from_arrays(np.arange(200) % 4, rng.standard_normal((200, {dim})) / 10, rng.standard_normal(200))
ct.OffCLUB(confidence=ct.Confidence(ridge=1.5)).fit(logs).decide(0, np.eye({dim}))
"""
_IMPORT_SECONDS = 0.3


def run(*, quick: bool = False) -> Result:
    """Seconds from starting the interpreter to its end."""
    times = interleaved({name: _process(code) for name, code in _IMPORTS.items()}, 3 if quick else 10)
    bare = statistics.median(times["nothing"])
    alone = {name: statistics.median(seconds) - bare for name, seconds in times.items()}
    first, later = _kernel_use(rounds=1 if quick else 3)
    claims = [
        Claim("seconds of `import coterie` beyond the bare interpreter", alone["import coterie"], _IMPORT_SECONDS),
        Claim("seconds of `coterie --help`, the interpreter included",
              statistics.median(times["coterie --help"]), _IMPORT_SECONDS),
    ]  # fmt: skip
    measurements = [*measured("fresh interpreter", times, "import numpy"), *first, *later]
    return Result("imports", measurements, claims)


def _kernel_use(rounds: int) -> tuple[list[Measurement], list[Measurement]]:
    """Logs to one decision: first process (nothing compiled yet) and later ones, per dimension."""
    first: dict[str, list[float]] = {}
    later: dict[str, list[float]] = {}
    for dim in (5, 20):
        code = _WALK.format(dim=dim)
        first[name := f"logs to a decision, d = {dim}, empty cache"], later_times = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                process = _process(code, {"NUMBA_CACHE_DIR": cache})
                for times in (first[name], later_times):
                    start = time.perf_counter()
                    process()
                    times.append(time.perf_counter() - start)
        later[f"logs to a decision, d = {dim}, filled cache"] = later_times
    return measured("compiled kernels", first), measured("compiled kernels", later)


def _process(code: str, variables: Mapping[str, str] | None = None) -> Callable[[], object]:
    """Run of `code` in a fresh interpreter."""
    command, variables = [sys.executable, "-W", "ignore", "-c", code], {**os.environ, **(variables or {})}
    return lambda: subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, check=True)
