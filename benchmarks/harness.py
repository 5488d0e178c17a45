"""What every benchmark needs: interleaved timing, isolated processes, a table of ratios, results on disk.

Takes: alternatives that do the same work, as functions without arguments.
Gives: a `Result`: measurements, claims and settings; printed, or written as JSON and into the docs.
Next: `fit`, `summarize`, `decide`, `imports`; `results`, which prints and writes.
"""

import gc
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_LIBRARIES = ("coterie", "numpy", "scipy", "numba", "pyarrow", "polars", "duckdb")

Times = dict[str, list[float]]


@dataclass(frozen=True)
class Measurement:
    """Seconds of one alternative in one case; `ratio` is to the case's reference, in the same round.

    `work` is how many units of work the seconds are for (0: no rate is shown); `peak_mb` is the highest
    resident memory of a process that did only this.
    """

    case: str
    name: str
    seconds: float
    fastest: float
    rounds: int
    ratio: float | None = None
    work: int = 0
    peak_mb: float | None = None


@dataclass(frozen=True)
class Claim:
    """A number that was promised and the number that was seen."""

    text: str
    seen: float
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the promise was kept in this run."""
        return self.seen >= self.limit if self.at_least else self.seen <= self.limit


@dataclass(frozen=True)
class Result:
    """What one benchmark found; `settings` are the sizes, so that a reader can repeat it."""

    name: str
    measurements: list[Measurement]
    claims: list[Claim]
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def interleaved(alternatives: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 1) -> Times:
    """Seconds of each alternative in each round: a, b, a, b, ..., so that a busy machine slows all alike.

    The collector runs before each timing and not in it.
    """
    for _ in range(warm_up):
        for run in alternatives.values():
            run()
    times: Times = {name: [] for name in alternatives}
    for _ in range(rounds):
        for name, run in alternatives.items():
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            kept = run()
            times[name].append(time.perf_counter() - start)
            gc.enable()
            del kept  # freeing a result is not part of making it
    return times


def ratio(times: Times, name: str, reference: str) -> float:
    """Median over rounds of the quotient within a round."""
    return statistics.median(a / b for a, b in zip(times[name], times[reference], strict=True))


def measured(
    case: str,
    times: Times,
    reference: str | None = None,
    *,
    work: int | Mapping[str, int] = 0,
    peak_mb: Mapping[str, float] | None = None,
) -> list[Measurement]:
    """One `Measurement` per alternative; with `work`, ratios are of the time for one unit of it."""
    units = dict.fromkeys(times, work) if isinstance(work, int) else dict(work)

    def against(name: str) -> float | None:
        if reference is None:
            return None
        return ratio(times, name, reference) * ((units[reference] / units[name]) if units[name] else 1)

    return [
        Measurement(
            case=case,
            name=name,
            seconds=statistics.median(seconds),
            fastest=min(seconds),
            rounds=len(seconds),
            ratio=against(name),
            work=units.get(name, 0),
            peak_mb=(peak_mb or {}).get(name),
        )
        for name, seconds in times.items()
    ]


def isolated(
    function: Callable[..., object], *, before: dict[str, Any] | None = None, **arguments: Any
) -> dict[str, float]:
    """Seconds (imports included) and peak resident MB of one call in a fresh process.

    `function` is a module's own and takes JSON-able keywords; with `before`, it is called with those
    first, so that the seconds are without imports. What it returns, if a dict of numbers, is added.
    """
    call = json.dumps([function.__module__, function.__name__, arguments, before])
    command = [sys.executable, "-m", "benchmarks.harness", call]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{function.__name__} failed in its own process:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def peak_mb() -> float:
    """Highest resident memory of this process; VmHWM, since ru_maxrss inherits the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(next(lines).split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def environment() -> dict[str, str]:
    """Machine, threads and versions, without anything that names the machine."""
    return {
        "cpu": _cpu(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "blas threads": _blas_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{found.name: found.version for name in _LIBRARIES for found in metadata.distributions(name=name)},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "not known"


def _blas_threads() -> str:
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "not known"
    importlib.import_module("numpy.linalg")
    blas = {str(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"}
    return ", ".join(sorted(blas)) or "not known"


def _in_own_process(call: str) -> None:
    with suppress(OSError):  # should memory run out, this process is to go and no other
        Path("/proc/self/oom_score_adj").write_text("1000")
    module, function, arguments, before = json.loads(call)
    start = time.perf_counter()
    way = getattr(importlib.import_module(module), function)
    if before is not None:
        way(**before)
        start = time.perf_counter()
    found = way(**arguments)
    told = {"seconds": time.perf_counter() - start, "peak_mb": peak_mb()}
    print(json.dumps(told | (found if isinstance(found, dict) and "numbers" in found else {})))


if __name__ == "__main__":
    _in_own_process(sys.argv[1])
