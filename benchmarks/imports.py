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

from benchmarks.harness import Claim, Measurement, Result, Times, interleaved, measured

_IMPORTS = {
    "nothing": "pass",
    "import numpy": "import numpy",
    "import coterie": "import coterie",
    "import coterie, every public name": "import coterie\nfor name in dir(coterie): getattr(coterie, name)",
    "coterie --help": ("import sys; sys.argv = ['coterie', '--help']\nfrom coterie.cli import main\nmain()"),
}
_WALK = """
import numpy as np, coterie as ct
rng = np.random.default_rng(0)
user, action, reward = np.arange(200) % 4, rng.standard_normal((200, {dim})) / 10, rng.standard_normal(200)
logs = ct.Logs.from_arrays(user, action, reward)
ct.OffCLUB(confidence=ct.Confidence(ridge=1.5)).fit(logs).decide(0, np.eye({dim}))
"""
_LIMIT = 0.3  # seconds


def run(*, quick: bool = False) -> Result:
    """Seconds from starting the interpreter to its end."""
    times = interleaved({name: _process(code) for name, code in _IMPORTS.items()}, 3 if quick else 10)
    bare = statistics.median(times["nothing"])
    alone = {name: statistics.median(seconds) - bare for name, seconds in times.items()}
    first, later = _kernel_use(rounds=1 if quick else 3)
    helped = statistics.median(times["coterie --help"])
    claims = [
        Claim("seconds of `import coterie`, the interpreter left out", alone["import coterie"], _LIMIT),
        Claim("seconds of `coterie --help`, the interpreter included", helped, _LIMIT),
    ]
    measurements = [*measured("fresh interpreter", times, "import numpy"), *first, *later]
    return Result("imports", measurements, claims)


def _kernel_use(rounds: int) -> tuple[list[Measurement], list[Measurement]]:
    """Logs to one decision: first process (nothing compiled yet) and later ones, per dimension."""
    first: Times = {}
    later: Times = {}
    for dim in (5, 20):
        name, code = f"logs to a decision, d = {dim}", _WALK.format(dim=dim)
        cold, warm = (
            first.setdefault(f"{name}, empty cache", []),
            later.setdefault(f"{name}, filled cache", []),
        )
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                process = _process(code, {"NUMBA_CACHE_DIR": cache})
                for times in (cold, warm):
                    start = time.perf_counter()
                    process()
                    times.append(time.perf_counter() - start)
    return measured("compiled kernels", first), measured("compiled kernels", later)


def _process(code: str, variables: Mapping[str, str] | None = None) -> Callable[[], object]:
    """Run of `code` in a fresh interpreter."""
    command, variables = [sys.executable, "-W", "ignore", "-c", code], {**os.environ, **(variables or {})}
    return lambda: subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, check=True)
