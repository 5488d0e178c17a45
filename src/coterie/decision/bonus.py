"""The decision slot: what is added to an estimate for what is not known about it.

Takes: nothing but its own settings.
Gives: a `Bonus`.
Paper: the decision phases of Algorithms 1 and 2 (pessimistic, norm).
Next: `decide`.
"""

from dataclasses import dataclass
from typing import Literal

from coterie import checks


@dataclass(frozen=True)
class Bonus:
    r"""score = estimate + sign * width, with width = scale * beta * ||a||_{M^-1}.

    Parameters
    ----------
    sign : -1, 0 or 1
        Pessimistic (the paper), greedy, or optimistic.
    form : "norm" or "squared"
        The norm as printed, or its square.
    scale : float
        Factor of the width.
    prior : "printed" or "proof"
        How beta ends for Off-C2LUB, whose prior is lambda n I: in sqrt(lambda) as Algorithm 1 prints, or
        in sqrt(lambda n) as the proof of its Theorem 2 needs. Nothing changes where n is 1.

    Examples
    --------
    >>> Bonus(sign=0).is_greedy
    True
    """

    sign: Literal[-1, 0, 1] = -1
    form: Literal["norm", "squared"] = "norm"
    scale: float = 1.0
    prior: Literal["printed", "proof"] = "printed"

    def __post_init__(self) -> None:
        checks.one_of("sign", self.sign, (-1, 0, 1))
        checks.one_of("form", self.form, ("norm", "squared"))
        checks.at_least("scale", self.scale, 0)
        checks.one_of("prior", self.prior, ("printed", "proof"))

    @property
    def is_greedy(self) -> bool:
        """Whether the width plays no part in the choice."""
        return self.sign == 0
