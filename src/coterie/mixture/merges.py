r"""Which points are better one than two.

Takes: a `Population` of points, what the last sweep over users gave, beliefs about a centre.
Gives: a population with pairs of points made one.
Paper: none; with the responsibilities as they are, the evidence's bound is a sum over points.
Next: `points`.
"""

from dataclasses import replace

import numpy as np

from coterie import packed
from coterie.mixture.expect import Expected
from coterie.mixture.population import Population
from coterie.packed import FloatArray

_NEAREST = 5  # other points that each is compared with


def joined(
    population: Population, seen: Expected, mean: FloatArray, precision: FloatArray, *, at_a_loss: bool
) -> Population | None:
    r"""The same with every pair made one that gains by it; `at_a_loss`, if none does, the nearest to it.

    With A and s the precision and shift that the users of a point add to the beliefs P, P m about its centre,
    a point is worth, and two made one gain,

    .. math:: F(A, s) = \tfrac12 (P m + s)' (P + A)^{-1} (P m + s) - \tfrac12 \log |P + A|, \quad
        F(A_j + A_k, s_j + s_k) + F(0, 0) - F(A_j, s_j) - F(A_k, s_k)

    and what the weights gain. A point is in one pair at most. None comes back where there is no pair.
    """
    k = population.n_components
    if k == 1:
        return None
    prior, shift = packed.unpack(precision), packed.unpack(precision) @ mean
    grams, moments = packed.unpack(seen.grams) / population.noise, seen.moments / population.noise
    one, other = _pairs(population)
    apart = worth(prior + grams, shift + moments)
    together = worth(prior + grams[one] + grams[other], shift + moments[one] + moments[other])
    nobody = worth(prior[np.newaxis], shift[np.newaxis])[0]
    gain = together + nobody - apart[one] - apart[other] + weights_gain(seen.mass, one, other)
    pairs = _disjoint(one, other, gain) or (
        [(int(one[gain.argmax()]), int(other[gain.argmax()]))] if at_a_loss else []
    )
    if not pairs:
        return None
    stay, centre = np.ones(k, dtype=bool), population.centre.copy()
    weight = population.weight.copy()
    for j, e in pairs:
        stay[e] = False
        both = packed.unpack(precision) + grams[j] + grams[e]
        centre[j] = np.linalg.solve(both, shift + moments[j] + moments[e])
        weight[j] += weight[e]
    return replace(
        population,
        log_weight=np.log(weight[stay]),
        centre=centre[stay],
        doubt=population.doubt[stay],
    )


def _pairs(population: Population) -> tuple[FloatArray, FloatArray]:
    """Each point with its nearest others, in the metric of what is known of it; a pair once."""
    found = set[tuple[int, int]]()
    k = population.n_components
    doubt = packed.unpack(population.doubt)
    for j in range(k):
        away = population.centre - population.centre[j]
        distance = np.einsum("ki,ki->k", away, np.linalg.solve(doubt[j], away.T).T)
        distance[j] = np.inf
        nearest = np.argsort(distance, kind="stable")[: min(_NEAREST, k - 1)]
        found |= {(min(j, e), max(j, e)) for e in nearest.tolist()}
    one, other = np.array(sorted(found)).T
    return one, other


def worth(precision: FloatArray, shift: FloatArray) -> FloatArray:
    """F of each point."""
    solved = np.linalg.solve(precision, shift[..., np.newaxis])[..., 0]
    return np.asarray(0.5 * np.einsum("ki,ki->k", shift, solved) - 0.5 * np.linalg.slogdet(precision)[1])


def weights_gain(mass: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """What the Dirichlet normalisers gain, with flat beliefs about the weights."""
    from scipy.special import gammaln

    k, n = len(mass), mass.sum()
    both = gammaln(1 + mass[one] + mass[other]) - gammaln(1 + mass[one]) - gammaln(1 + mass[other])
    return np.asarray(both + np.log((k - 1 + n) / (k - 1)))


def _disjoint(one: FloatArray, other: FloatArray, gain: FloatArray) -> list[tuple[int, int]]:
    """Pairs that gain, the best first, no point twice."""
    taken, pairs = set[int](), list[tuple[int, int]]()
    for at in np.argsort(-gain, kind="stable").tolist():
        j, e = int(one[at]), int(other[at])
        if gain[at] <= 0:
            break
        if not {j, e} & taken:
            taken |= {j, e}
            pairs.append((j, e))
    return pairs
