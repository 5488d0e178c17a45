"""Where results come from: versions, processor, commit, settings, data.

Takes: the settings of a run.
Gives: plain values, for the page and for provenance.json.
"""

import hashlib
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coterie.experiments.datasets import file_of

_PACKAGES = ("coterie", "numpy", "scipy", "numba", "pyarrow", "scikit-learn", "matplotlib")


def provenance(chosen: dict[str, Any], datasets: list[str], folder: str | None) -> dict[str, Any]:
    """The settings with everything around them that a number may depend on."""
    return {
        **chosen,
        "data sets": ", ".join(_file(name, folder) for name in datasets),
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def peak_memory() -> tuple[int, int] | None:
    """Most bytes that were ever resident here, and in the largest process started; None on Windows."""
    try:
        from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    here, below = (getrusage(who).ru_maxrss * unit for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return here, below


def _file(dataset: str, folder: str | None) -> str:
    """Name of a data set, with its file and the file's digest where it has one."""
    file = file_of(dataset, folder)
    if file is None:
        return dataset
    return f"{dataset} ({file.name}, sha256 {hashlib.sha256(file.read_bytes()).hexdigest()[:12]})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """Commit of the source, where it lies in a repository and git is there."""
    try:
        ran = subprocess.run(
            ["git", "describe", "--always", "--dirty"],  # noqa: S607 (whichever git there is)
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return ran.stdout.strip() or "unknown"


def _processor() -> str:
    """Name of the processor, as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for text in info.read_text().splitlines():
            if text.startswith("model name"):
                return text.partition(":")[2].strip()
    return platform.processor() or platform.machine()
