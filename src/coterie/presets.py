"""The paper's settings as keyword arguments: as printed, and as its tables need them.

Takes: the name of an algorithm.
Gives: keyword arguments for that class, `OffCLUB(**paper_text("OffCLUB"))`.
Paper: the basic setup of the experiments; `docs/deviations.md` says where the two differ and why.
"""

from typing import Any

from coterie.confidence import Confidence, Smoothed
from coterie.decision import Bonus
from coterie.errors import ParameterError
from coterie.theory import smoothed_regularity

_DIM = 20
_CANDIDATES = 20
_TABLES_REGULARITY = 0.8  # effective value of the tables; the integral gives almost 0


def paper_text(algorithm: str, *, dim: int = _DIM, candidates: int = _CANDIDATES) -> dict[str, Any]:
    """Printed settings: the norm, unit vectors, the smoothed regularity by its integral.

    Unit vectors that are uniform on the sphere have lambda_a = 1/d and (theta' a)^2 has variance
    2 (d - 1) / (d^2 (d + 2)).

    >>> paper_text("OffCLUB")["graph_scale"]
    0.1
    """
    variance = 2 * (dim - 1) / (dim**2 * (dim + 2))
    regularity = Smoothed(smoothed_regularity(1 / dim, variance, candidates))
    return _settings(
        algorithm, Confidence(ridge=0.5, failure_prob=0.01, regularity=regularity), Bonus(), "theory"
    )


def paper_tables(algorithm: str) -> dict[str, Any]:
    """Settings that give the published tables: an effective regularity, no N_min, the squared norm.

    >>> paper_tables("OffC2LUB")["bonus"].form
    'squared'
    """
    confidence = Confidence(ridge=0.5, failure_prob=0.01, regularity=Smoothed(_TABLES_REGULARITY))
    return _settings(algorithm, confidence, Bonus(form="squared", scale=0.1), 0.0)


def _settings(
    algorithm: str, confidence: Confidence, bonus: Bonus, min_samples: float | str
) -> dict[str, Any]:
    common = {"confidence": confidence, "bonus": bonus}
    by_name: dict[str, dict[str, Any]] = {
        "OffCLUB": {**common, "graph_scale": 0.1},
        "OffC2LUB": {**common, "graph_scale": 0.1, "min_samples": min_samples},
        "Independent": common,
        "Pooled": common,
        "Oracle": common,
    }
    if algorithm not in by_name:
        raise ParameterError(f"there is no preset for {algorithm!r}; there are {', '.join(by_name)}")
    return by_name[algorithm]
