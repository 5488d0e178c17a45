"""Options that commands share: which columns are what, which algorithm, which settings."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from coterie.errors import ParameterError

if TYPE_CHECKING:
    from coterie.confidence import Regularity

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

ALGORITHMS = ("off-c2lub", "off-club", "independent", "pooled", "mixture")
_GAPS = ("gap", "sharing", "min_samples", "prior")
_UNUSED = {
    "off-club": _GAPS,
    "independent": (*_GAPS, "graph_scale"),
    "pooled": (*_GAPS, "graph_scale"),
    "mixture": (*_GAPS, "graph_scale", "ridge", "regularity"),
}
_SIGNS = {"pessimistic": -1, "greedy": 0, "optimistic": 1}


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which they are to be listed."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        """Add the options to a command."""
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


action_option = click.option(
    "--action",
    "action",
    multiple=True,
    metavar="COLUMNS",
    help="Action column(s): one that holds lists, or one per coordinate; repeat it, separate by commas, or "
    "use a pattern such as 'f*'.",
)
item_options = together(
    click.option("--item", metavar="COLUMN", help="Column of item ids, in place of --action."),
    click.option(
        "--items", metavar="TABLE", help="Table with the same item column and one action vector per item."
    ),
)
log_options = together(
    click.option("--user", required=True, metavar="COLUMN", help="Column of user ids."),
    action_option,
    item_options,
    click.option("--reward", required=True, metavar="COLUMN", help="Column of rewards."),
    click.option(
        "--weight", metavar="COLUMN", help="Column of frequencies: a row of weight 2 is that row twice."
    ),
    click.option(
        "--intercept", is_flag=True, help="Append a constant 1 to every action, here and when deciding."
    ),
    click.option("--text-ids", is_flag=True, help="Take user ids as text, even if they look like integers."),
    click.option(
        "--on-bad",
        type=click.Choice(["error", "drop"]),
        default="error",
        show_default=True,
        help="Stop at the first bad row, or leave such rows out and count them.",
    ),
)
logging_options = together(
    click.option("--time", metavar="COLUMN", help="Column of times: numbers, dates or time stamps."),
    click.option(
        "--propensity", metavar="COLUMN", help="Column of the probabilities with which actions were logged."
    ),
    click.option(
        "--candidates",
        metavar="COLUMN|TABLE",
        help="The actions that the logging policy chose from: a column with a list per row, or a table of "
        "item ids or of action vectors.",
    ),
)
algorithm_options = together(
    click.option(
        "--algorithm",
        type=click.Choice(ALGORITHMS),
        default="off-c2lub",
        show_default=True,
        help="Which algorithm to fit.",
    ),
    click.option(
        "--gap",
        default="over",
        show_default=True,
        metavar="GAP",
        help="Off-C2LUB: estimate the gap by the policy over or under, choose it by rows held out "
        "(validate), or a number.",
    ),
    click.option(
        "--sharing",
        type=click.Choice(["own", "mutual", "global"]),
        default="own",
        show_default=True,
        help="Off-C2LUB: join by the gap of the user served, by both users' gaps, or by one for all.",
    ),
    click.option(
        "--min-samples",
        default="theory",
        show_default=True,
        metavar="COUNT",
        help="Off-C2LUB: least samples of users who are joined, by theory or a number.",
    ),
    click.option(
        "--graph-scale",
        type=float,
        default=1.0,
        show_default=True,
        help="Factor of the radii when users are compared (Off-C2LUB and Off-CLUB).",
    ),
    click.option(
        "--ridge", type=float, default=0.5, show_default=True, help="Weight of the ridge prior, above 0."
    ),
    click.option(
        "--failure-prob",
        type=float,
        default=0.01,
        show_default=True,
        help="Probability with which the radii may fail, between 0 and 1.",
    ),
    click.option(
        "--noise",
        default="1.0",
        show_default=True,
        metavar="SCALE",
        help="Scale of the rewards' noise: a number, or estimate.",
    ),
    click.option(
        "--theta-bound",
        type=float,
        default=1.0,
        show_default=True,
        help="Length that no user's preference vector exceeds.",
    ),
    click.option(
        "--regularity",
        default="observed",
        show_default=True,
        metavar="KIND",
        help="How evenly actions cover the space: observed, smoothed:VALUE or iid:VALUE.",
    ),
    click.option(
        "--sign",
        type=click.Choice(list(_SIGNS)),
        default="pessimistic",
        show_default=True,
        help="Subtract the width from the estimate, leave it out, or add it.",
    ),
    click.option(
        "--form",
        "bonus_form",
        type=click.Choice(["norm", "squared"]),
        default="norm",
        show_default=True,
        help="Width by the norm as printed, or by its square.",
    ),
    click.option(
        "--prior",
        type=click.Choice(["printed", "proof"]),
        default="printed",
        show_default=True,
        help="Off-C2LUB: end the width's factor as Algorithm 1 prints it, or as its proof needs it.",
    ),
    click.option("--scale", type=float, default=1.0, show_default=True, help="Factor of the width."),
    click.option("--no-rescale", is_flag=True, help="Do not divide actions longer than 1 by the longest."),
)


def require_one_kind_of_action(options: dict[str, Any]) -> None:
    """Refuse --item without --items, and either beside --action."""
    item, items = options["item"] is not None, options["items"] is not None
    context = click.get_current_context(silent=True)
    if item != items:
        raise click.UsageError("--item (a column of ids) and --items (a table) go together", context)
    if item and options["action"]:
        raise click.UsageError("--action and --item exclude each other; give one of them", context)


def require_unread(out: str, *inputs: str | None) -> None:
    """Refuse to write over a file that the command reads."""
    from coterie.errors import FileError
    from coterie.logs.sources import files_at

    for place in inputs:
        if place is not None and Path(out).resolve() in {Path(path).resolve() for path in files_at(place)}:
            raise FileError(f"{out!r} is a file that this command reads; name another one to write to")


def algorithm_of(options: dict[str, Any]) -> Any:
    """Algorithm object that the options describe."""
    from coterie.algorithms import Independent, Mixture, OffC2LUB, OffCLUB, Pooled
    from coterie.confidence import Confidence
    from coterie.decision import Bonus

    _require_used(options["algorithm"])
    common: dict[str, Any] = {
        "confidence": Confidence(
            ridge=options["ridge"],
            failure_prob=options["failure_prob"],
            noise=_number_or("noise", options["noise"], ("estimate",)),
            theta_bound=options["theta_bound"],
            regularity=_regularity(options["regularity"]),
        ),
        "bonus": Bonus(
            sign=_SIGNS[options["sign"]],  # type: ignore[arg-type]
            form=options["bonus_form"],
            scale=options["scale"],
            prior=options["prior"],
        ),
        "rescale": not options["no_rescale"],
    }
    name = options["algorithm"]
    if name == "off-c2lub":
        return OffC2LUB(
            gap=_number_or("gap", options["gap"], ("over", "under", "validate")),
            sharing=options["sharing"],
            min_samples=_number_or("min-samples", options["min_samples"], ("theory",)),
            graph_scale=options["graph_scale"],
            **common,
        )
    if name == "off-club":
        return OffCLUB(graph_scale=options["graph_scale"], **common)
    if name == "mixture":
        return Mixture(**common)
    return (Independent if name == "independent" else Pooled)(**common)


def _require_used(algorithm: str) -> None:
    """Refuse an option that was given and that the algorithm does not have."""
    context = click.get_current_context(silent=True)
    for name in () if context is None else _UNUSED.get(algorithm, ()):
        if context is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = name.replace("_", "-")
            raise click.UsageError(
                f"--{option} means nothing to --algorithm {algorithm}; leave it out", context
            )


def action_columns(patterns: Sequence[str], present: Sequence[str], taken: set[str]) -> list[str]:
    """Columns that the patterns name; a pattern takes its columns in natural order, f2 before f10.

    >>> action_columns(["f*", "age"], ["user", "f10", "f2", "age"], {"user"})
    ['f2', 'f10', 'age']
    """
    names: list[str] = []
    for pattern in _parts(patterns, present):
        found = [pattern]
        if pattern not in present and any(mark in pattern for mark in "*?["):
            free = [name for name in present if name not in taken]
            found = sorted((name for name in free if fnmatch.fnmatchcase(name, pattern)), key=_natural)
            if not found:
                raise ParameterError(f"--action {pattern!r} matches no column; there are {', '.join(free)}")
        names += [name for name in found if name not in names]
    if not names:
        raise ParameterError(f"--action names no column; there are {', '.join(present)}")
    return names


def _parts(patterns: Sequence[str], present: Sequence[str]) -> list[str]:
    """Patterns cut at their commas, unless a column has that very name."""
    parts: list[str] = []
    for given in patterns:
        parts += [given] if given in present else [part.strip() for part in given.split(",")]
    return [part for part in parts if part]


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Key that sorts numbers inside names by size."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name) if part]


def _number_or(option: str, text: str, words: tuple[str, ...]) -> Any:
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        raise _bad(option, f"{text!r} is neither a number nor {' or '.join(words)}") from None


def _regularity(text: str) -> Regularity:
    from coterie.confidence import IID, Observed, Smoothed

    if text == "observed":
        return Observed()
    name, _, value = text.partition(":")
    kinds: dict[str, Any] = {"smoothed": Smoothed, "iid": IID}
    try:
        number = float(value)
    except ValueError:
        number = None
    if name not in kinds or number is None:
        raise _bad("regularity", f"{text!r} is none of observed, smoothed:VALUE and iid:VALUE")
    made: Regularity = kinds[name](number)
    return made


def _bad(option: str, sentence: str) -> click.BadParameter:
    context = click.get_current_context(silent=True)
    return click.BadParameter(sentence, ctx=context, param_hint=f"'--{option}'")
