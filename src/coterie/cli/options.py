"""Options that commands share: which columns are what, which algorithm, which settings."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from coterie.errors import ParameterError

if TYPE_CHECKING:
    from coterie.confidence import Regularity

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

ALGORITHMS = ("off-c2lub", "off-club", "independent", "pooled")
_SIGNS = {"pessimistic": -1, "greedy": 0, "optimistic": 1}


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which they are to be listed."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


action_option = click.option(
    "--action",
    "action",
    multiple=True,
    help="Action column(s): one that holds lists, or one per coordinate; repeat it, separate by commas, or "
    "use a pattern such as 'f*'.",
)
item_options = together(
    click.option("--item", help="Column of item ids, in place of --action."),
    click.option("--items", help="Table with the item column and one action vector per item."),
)
log_options = together(
    click.option("--user", required=True, help="Column of user ids."),
    action_option,
    item_options,
    click.option("--reward", required=True, help="Column of rewards."),
    click.option("--weight", help="Column of row frequencies."),
    click.option("--intercept", is_flag=True, help="Append a constant to every action."),
    click.option(
        "--on-bad",
        type=click.Choice(["error", "drop"]),
        default="error",
        show_default=True,
        help="Stop at the first bad row, or leave such rows out and count them.",
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
    click.option("--gap", default="over", show_default=True, help="Off-C2LUB: over, under, or a number."),
    click.option(
        "--sharing",
        type=click.Choice(["own", "mutual", "global"]),
        default="own",
        show_default=True,
        help="Off-C2LUB: whose gap counts.",
    ),
    click.option("--min-samples", default="theory", show_default=True, help="Off-C2LUB: theory, or a count."),
    click.option("--graph-scale", type=float, default=1.0, show_default=True, help="Factor of the radii."),
    click.option("--ridge", type=float, default=0.5, show_default=True, help="Ridge prior."),
    click.option("--failure-prob", type=float, default=0.01, show_default=True, help="Failure probability."),
    click.option("--noise", default="1.0", show_default=True, help="Noise scale, or estimate."),
    click.option("--theta-bound", type=float, default=1.0, show_default=True, help="Longest preference."),
    click.option(
        "--regularity",
        default="observed",
        show_default=True,
        help="observed, smoothed:VALUE or iid:VALUE.",
    ),
    click.option(
        "--sign",
        type=click.Choice(list(_SIGNS)),
        default="pessimistic",
        show_default=True,
        help="What uncertainty does to a score.",
    ),
    click.option(
        "--form",
        "bonus_form",
        type=click.Choice(["norm", "squared"]),
        default="norm",
        show_default=True,
        help="Width by the norm, or by its square.",
    ),
    click.option("--scale", type=float, default=1.0, show_default=True, help="Factor of the width."),
    click.option("--no-rescale", is_flag=True, help="Leave actions longer than 1 as they are."),
)


def algorithm_of(options: dict[str, Any]) -> Any:
    """Algorithm object that the options describe."""
    from coterie.algorithms import Independent, OffC2LUB, OffCLUB, Pooled
    from coterie.confidence import Confidence
    from coterie.decision import Bonus

    common: dict[str, Any] = {
        "confidence": Confidence(
            ridge=options["ridge"],
            failure_prob=options["failure_prob"],
            noise=_number_or("noise", options["noise"], ("estimate",)),
            theta_bound=options["theta_bound"],
            regularity=_regularity(options["regularity"]),
        ),
        "bonus": Bonus(sign=_SIGNS[options["sign"]], form=options["bonus_form"], scale=options["scale"]),  # type: ignore[arg-type]
        "rescale": not options["no_rescale"],
    }
    name = options["algorithm"]
    if name == "off-c2lub":
        return OffC2LUB(
            gap=_number_or("gap", options["gap"], ("over", "under")),
            sharing=options["sharing"],
            min_samples=_number_or("min-samples", options["min_samples"], ("theory",)),
            graph_scale=options["graph_scale"],
            **common,
        )
    if name == "off-club":
        return OffCLUB(graph_scale=options["graph_scale"], **common)
    return (Independent if name == "independent" else Pooled)(**common)


def action_columns(patterns: Sequence[str], present: Sequence[str], taken: set[str]) -> list[str]:
    """Columns that the patterns name; a pattern takes its columns in natural order, f2 before f10."""
    names: list[str] = []
    for pattern in (part.strip() for given in patterns for part in given.split(",")):
        found = [pattern]
        if any(mark in pattern for mark in "*?["):
            found = sorted(
                (c for c in present if fnmatch.fnmatch(c, pattern) and c not in taken), key=_natural
            )
            if not found:
                raise ParameterError(
                    f"--action {pattern!r} matches no column; there are {', '.join(present)}"
                )
        names += [name for name in found if name not in names]
    return names


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Key that sorts numbers inside names by size."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name) if part]


def _number_or(option: str, text: str, words: tuple[str, ...]) -> Any:
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither a number nor {' or '.join(words)}", param_hint=f"--{option}"
        ) from None


def _regularity(text: str) -> Regularity:
    from coterie.confidence import IID, Observed, Smoothed

    name, _, value = text.partition(":")
    if name == "observed" and not value:
        return Observed()
    kinds: dict[str, Any] = {"smoothed": Smoothed, "iid": IID}
    try:
        number = float(value)
        made: Regularity = kinds[name](number)
    except (KeyError, ValueError) as failure:
        if isinstance(failure, ParameterError):
            raise
        hint = "give observed, smoothed:VALUE or iid:VALUE"
        raise click.BadParameter(f"{text!r} is none; {hint}", param_hint="--regularity") from None
    return made
