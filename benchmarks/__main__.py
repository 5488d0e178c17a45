"""`python -m benchmarks [names] [--write] [--quick]`: run benchmarks, print tables of seconds and ratios."""

import argparse
import sys
from importlib import import_module

from benchmarks.harness import Result
from benchmarks.results import machine, printed, write

NAMES = (
    "imports",
    "fit",
    "search",
    "million",
    "decide",
    "latency",
    "summarize",
    "peers",
    "dimensions",
    "estimators",
    "picks",
    "mixture",
    "evaluating",
)


def main() -> int:
    """Status 1 if a claim does not hold at full size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="names", help=f"some of {', '.join(NAMES)}; default: all")
    parser.add_argument(
        "--write", action="store_true", help="keep the results and refresh docs/performance.md"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run, not how fast")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in NAMES]:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    if given.write and given.quick:
        parser.error("--quick measures nothing worth keeping; leave out --write or --quick")
    print(machine())
    missed = 0
    for name in given.names or NAMES:
        result: Result = import_module(f"benchmarks.{name}").run(quick=given.quick)
        print(f"\n## {name}\n\n{printed(result)}", flush=True)
        missed += sum(not claim.holds for claim in result.claims)
        if given.write:
            write(result)
    return int(missed > 0 and not given.quick)


if __name__ == "__main__":
    sys.exit(main())
