"""The algorithms that are compared unless others are named, and what of each is tuned.

Takes: a name and settings.
Gives: an algorithm, ready to be fitted.
Next: `tuning`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from coterie import algorithms
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.errors import ParameterError
from coterie.mixture.compete import KINDS

Settings = dict[str, Any]

RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SCALES = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
GAPS = ("over", "under")
_POPULATION = {"learn_from": 300}  # users that a population is learned from: the most that many fits allow
_GRAPH = {"graph_scale": (SCALES, 0.3)}


@dataclass(frozen=True)
class Candidate:
    """An algorithm by class name, and the values tried for its settings, each with the first one tried.

    Without `radii` it has no ridge, and learns the noise itself; `fixed` are settings that are not tuned;
    `cuts` is the most inner cuts of a training part that it is tuned by.
    """

    name: str
    kind: str
    tuned: Mapping[str, tuple[tuple[Any, ...], Any]] = field(default_factory=dict)
    radii: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)
    cuts: int = 3

    @property
    def grid(self) -> dict[str, tuple[Any, ...]]:
        """Values of each setting; the ridge is tuned for every algorithm that has one."""
        ridges = {"ridge": RIDGES} if self.radii else {}
        return {**ridges, **{name: values for name, (values, _) in self.tuned.items()}}

    @property
    def start(self) -> Settings:
        """Settings that tuning starts from."""
        ridge = {"ridge": 1.0} if self.radii else {}
        return {**ridge, **{name: first for name, (_, first) in self.tuned.items()}}

    def algorithm(self, settings: Settings, noise: float, sign: Literal[-1, 0, 1]) -> Any:
        """The algorithm with these settings; `noise` is the scale of the rewards' noise."""
        given: Settings = {**settings, **self.fixed, "bonus": Bonus(sign=sign)}
        if self.radii:
            given["confidence"] = Confidence(ridge=given.pop("ridge"), noise=noise)
        return getattr(algorithms, self.kind)(**given)


_ALL = (
    Candidate("independent", "Independent"),
    Candidate("pooled", "Pooled"),
    Candidate("off-club", "OffCLUB", _GRAPH),
    Candidate("off-c2lub", "OffC2LUB", {"gap": (GAPS, "over"), **_GRAPH}),
    Candidate("gaussian", "Mixture", radii=False, fixed={"kind": "gaussian", **_POPULATION}, cuts=1),
    Candidate("mixture", "Mixture", {"kind": (KINDS, "gaussian")}, radii=False, fixed=_POPULATION, cuts=1),
)
CANDIDATES = {candidate.name: candidate for candidate in _ALL}


def named(names: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates of these names.

    >>> [candidate.kind for candidate in named(["off-club"])]
    ['OffCLUB']
    """
    if unknown := [name for name in names if name not in CANDIDATES]:
        raise ParameterError(f"there is no algorithm {unknown[0]!r}; there are {', '.join(CANDIDATES)}")
    if len(set(names)) != len(names) or not names:
        raise ParameterError(f"algorithms are {', '.join(names) or 'none'}; name at least one, each once")
    return tuple(CANDIDATES[name] for name in names)


def simplest(names: Sequence[str]) -> str:
    """The one of these that stands first in the registry, which goes from simple to involved."""
    return next((name for name in CANDIDATES if name in names), names[0])
