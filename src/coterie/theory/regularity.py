"""How much each sample is guaranteed to teach: the regularity of the logged actions.

Takes: lambda_a and the variance of the action distribution, the size of the candidate sets, a count.
Gives: the smoothed regularity, the explicit eigenvalue bound, the bounded-variance condition.
Paper: Assumption "Action Regularity", its alternative form, and the lemma on the smallest eigenvalue.
Next: `coterie.theory.sufficiency`.
"""

import itertools
import math

import numpy as np

from coterie.checks import at_least, positive, probability

_RELATIVE_TOLERANCE = 1e-11


def smoothed_regularity(lambda_a: float, variance: float, candidates: int) -> float:
    r"""Smoothed regularity: what a logging policy that chooses among candidates leaves of lambda_a.

    .. math:: \tilde\lambda_a = \int_0^{\lambda_a} \left(1 - e^{-(\lambda_a - x)^2 / (2 \sigma^2)}\right)^S dx

    The integrand is divided by its largest value before the quadrature, so that the result is as
    accurate at 1e-200 as at 0.1; below the smallest float it is 0. It rests on (theta'a)^2 having
    sub-Gaussian tails with variance at most sigma^2 in every direction theta, which is for the caller to
    know. Assumption "Action Regularity".

    Parameters
    ----------
    lambda_a : float
        Smallest eigenvalue of E[a a'] of the actions before anybody chooses among them.
    variance : float
        sigma^2; 0 gives lambda_a back.
    candidates : int
        S, the largest number of candidates that a choice was made from.

    Examples
    --------
    With one candidate it is lambda_a - sigma sqrt(pi / 2) erf(lambda_a / (sigma sqrt 2)), here
    1 - 1.2533 * 0.6827:

    >>> round(smoothed_regularity(1.0, 1.0, 1), 4)
    0.1444
    """
    from scipy.integrate import quad

    top = positive("lambda_a", lambda_a)
    spread = math.sqrt(at_least("variance", variance, 0))
    size = at_least("candidates", candidates, 1)
    if spread == 0:
        return top
    peak = size * _log_survival(top / spread)

    def relative(distance: float) -> float:  # the integrand at x = lambda_a - distance, peak set to 1
        return math.exp(size * _log_survival(distance / spread) - peak)

    breaks = _breaks(top, spread, size)
    pieces = [
        quad(relative, low, high, epsabs=0.0, epsrel=_RELATIVE_TOLERANCE, limit=200)[0]
        for low, high in itertools.pairwise(breaks)
    ]
    total = math.fsum(pieces)
    return math.exp(peak + math.log(total)) if total > 0 else 0.0


def eigenvalue_bound(count: float, lambda_a: float, dim: int, failure_prob: float) -> float:
    r"""Lower bound on the smallest eigenvalue of the sum of a a' over `count` independent actions.

    .. math:: n \lambda_a - \tfrac13 \sqrt{18 n A + A^2} - \tfrac13 A,
        \quad A = \log\frac{(n + 1)(n + 3) d}{\delta}

    Holds for all n at once with probability 1 - delta. As printed: it is negative, and says nothing,
    until n is in the order of 2 A / lambda_a^2. For independent draws only, clause (i) of the alternative
    assumption. Lemma on the smallest eigenvalue under the alternative assumption, first display.

    Examples
    --------
    Without a sample A = log(3 * 1 / 0.03) = log 100 = 4.605, and -2 A / 3 is left:

    >>> round(eigenvalue_bound(0, lambda_a=0.5, dim=1, failure_prob=0.03), 2)
    -3.07
    """
    n = at_least("count", count, 0)
    delta = probability("failure_prob", failure_prob)
    a = math.log((n + 1) * (n + 3) * at_least("dim", dim, 1) / delta)
    return n * positive("lambda_a", lambda_a) - math.sqrt(18 * n * a + a * a) / 3 - a / 3


def variance_limit(lambda_a: float, candidates: int) -> float:
    r"""Largest variance that the alternative assumption allows a logging policy's candidates.

    .. math:: \frac{\lambda_a^2}{8 \log(4 |S|)}

    Assumption "Action Regularity (Alternative Form)", clause (ii).

    Examples
    --------
    One candidate: 1 / (8 * 1.3863):

    >>> round(variance_limit(1.0, 1), 4)
    0.0902
    """
    top = positive("lambda_a", lambda_a)
    return top * top / (8 * math.log(4 * at_least("candidates", candidates, 1)))


def has_bounded_variance(variance: float, lambda_a: float, candidates: int) -> bool:
    r"""Whether the bounded-variance condition of the alternative assumption holds.

    .. math:: \sigma^2 \le \frac{\lambda_a^2}{8 \log(4 |S|)}

    Assumption "Action Regularity (Alternative Form)", clause (ii).

    Examples
    --------
    Uniform unit vectors in d = 20: lambda_a = 0.05 and variance 2 * 19 / (20^2 * 22) = 0.0043, where
    20 candidates allow no more than 0.00007:

    >>> has_bounded_variance(0.0043, lambda_a=0.05, candidates=20)
    False
    """
    return at_least("variance", variance, 0) <= variance_limit(lambda_a, candidates)


def _log_survival(ratio: float) -> float:
    """log(1 - exp(-ratio^2 / 2)) without cancellation at either end."""
    half = ratio * ratio / 2
    if half > 1:
        return math.log1p(-math.exp(-half))
    return math.log(-math.expm1(-half)) if half > 0 else -math.inf


def _breaks(top: float, spread: float, size: float) -> list[float]:
    """Ends of the pieces: around the rise at sigma sqrt(2 log S), and close to the peak at `top`."""
    rise = spread * math.sqrt(2 * math.log(1 + size))
    half = (top / spread) ** 2 / 2
    slope = size * top / spread**2 / math.expm1(half) if half < 700 else 0.0  # noqa: PLR2004 (exp overflows)
    width = 1 / slope if slope > 0 else top
    near_rise = rise * np.array([0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 6.0])
    near_peak = top - width * np.array([1.0, 4.0, 16.0, 64.0])
    inside = [float(x) for x in (*near_rise, *near_peak) if 0 < x < top]
    return sorted({0.0, top, *inside})
