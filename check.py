"""The project's checks, in order: format, lint, types, layers, then tests, doctests and documentation.

Run `python check.py`; arguments go to pytest, so `python check.py -m statistical` runs only those.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent

STEPS = (
    ("format", [BIN / "ruff", "format", "--check", "--quiet", "."]),
    ("lint", [BIN / "ruff", "check", "--quiet", "."]),
    ("types", [sys.executable, "-m", "mypy", "--no-error-summary"]),
    ("layers", [BIN / "lint-imports", "--no-cache"]),
    ("tests", [sys.executable, "-m", "pytest", *(sys.argv[1:] or ["-m", "not slow"])]),
)


def main() -> int:
    """Number of the first step that failed, 0 if none did."""
    for number, (name, command) in enumerate(STEPS, start=1):
        sys.stdout.write(f"== {name}\n")
        sys.stdout.flush()
        if subprocess.run([str(part) for part in command], cwd=HERE, check=False).returncode:
            sys.stdout.write(f"== {name} failed\n")
            return number
    return 0


if __name__ == "__main__":
    sys.exit(main())
