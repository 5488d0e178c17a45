"""What a check hands back: conditions, each with its two numbers and a sentence.

Takes: a name, a value, a relation, a limit and the place in the paper.
Gives: `Condition` and `Report`.
Paper: no line of its own; every condition carries its place.
Next: `coterie.theory.conditions`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie.errors import ParameterError

_COMPARE = {
    "<=": np.less_equal,
    "<": np.less,
    ">=": np.greater_equal,
    ">": np.greater,
    "=": np.equal,
}


@dataclass(frozen=True)
class Condition:
    """One condition: `value relation limit`, where the paper states or needs it, and a sentence.

    >>> Condition("graph_scale", 1.0, "=", 1.0, "Theorem 1").holds
    True
    """

    name: str
    value: float
    relation: Literal["<=", "<", ">=", ">", "="]
    limit: float
    source: str

    @property
    def holds(self) -> bool:
        """Whether the relation is true of the two numbers."""
        return bool(_COMPARE[self.relation](self.value, self.limit))

    @property
    def sentence(self) -> str:
        """The condition in words.

        >>> Condition("ridge", 0.5, ">", 1.0, "Algorithm 2, line 1").sentence
        'ridge is 0.5; Algorithm 2, line 1 asks for > 1, which does not hold'
        """
        asked = f"{self.source} asks for {self.relation} {self.limit:.6g}"
        return f"{self.name} is {self.value:.6g}; {asked}, which {'holds' if self.holds else 'does not hold'}"


@dataclass(frozen=True)
class Report:
    """All conditions in the order of the walk.

    >>> print(Report((Condition("ridge", 0.5, ">", 1.0, "Algorithm 2, line 1"),)))
    no   ridge is 0.5; Algorithm 2, line 1 asks for > 1, which does not hold
    """

    conditions: tuple[Condition, ...]

    @property
    def holds(self) -> bool:
        """Whether every condition holds."""
        return all(condition.holds for condition in self.conditions)

    @property
    def failing(self) -> tuple[Condition, ...]:
        """Those that do not."""
        return tuple(condition for condition in self.conditions if not condition.holds)

    def __getitem__(self, name: str) -> Condition:
        """The condition of that name."""
        found = {condition.name: condition for condition in self.conditions}
        if name not in found:
            raise ParameterError(
                f"there is no condition {name!r}; the report has {', '.join(found)}, so ask for one"
            )
        return found[name]

    def __str__(self) -> str:
        return "\n".join(f"{'yes' if c.holds else 'no':<4} {c.sentence}" for c in self.conditions)
