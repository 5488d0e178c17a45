r"""Intervals and lower bounds: bootstrap over users, empirical Bernstein, betting.

Takes: sums per user; or independent values with a known lower end.
Gives: interval ends and lower bounds.
Next: `scores`, `compare`, `off_policy`.
"""

import math

import numpy as np

from coterie.packed import FloatArray

RESAMPLES = 1000
_NUMBERS_AT_A_TIME = 1 << 22  # weights held at once (32 MiB)


def resampled(columns: FloatArray, rng: np.random.Generator, n: int = RESAMPLES) -> FloatArray:
    """Column sums (n, C) of resamples of the users (U, C), drawn with replacement.

    >>> resampled(np.ones((3, 1)), np.random.default_rng(0), 2).tolist()
    [[3.0], [3.0]]
    """
    users = len(columns)
    step = max(1, _NUMBERS_AT_A_TIME // max(users, 1))
    sums = np.empty((n, columns.shape[1]))
    for start in range(0, n, step):
        size = min(step, n - start)
        drawn = rng.integers(0, users, (size, users)) + users * np.arange(size)[:, np.newaxis]
        times = np.bincount(drawn.ravel(), minlength=size * users).reshape(size, users)
        sums[start : start + size] = times.astype(np.float64) @ columns
    return sums


def percentiles(values: FloatArray, n_users: int, confidence: float) -> tuple[FloatArray, FloatArray]:
    r"""Ends of the percentile interval of resampled values (n, ...), widened for few users.

    The share cut off at each end is that of a normal distribution below -sqrt(U / (U - 1)) t, with t the
    quantile of Student's distribution with U - 1 degrees of freedom: the plain percentiles are too narrow
    by that much when the users are few (Hesterberg 2015, "What teachers should know about the bootstrap").
    """
    share = cut_share(n_users, confidence)
    low, high = np.quantile(values, [share, 1 - share], axis=0)
    return low, high


def cut_share(n_users: int, confidence: float) -> float:
    """Share of the resamples to cut off at each end.

    >>> round(cut_share(10_000, 0.95), 3), cut_share(10, 0.95) < 0.02
    (0.025, True)
    """
    from scipy.special import ndtr, stdtrit

    freedom = n_users - 1
    quantile = float(stdtrit(freedom, 0.5 + confidence / 2))
    return float(ndtr(-math.sqrt(n_users / freedom) * quantile))


def bernstein_lower(values: FloatArray, span: float, failure_prob: float) -> float:
    r"""Lower bound on the mean of independent values that lie in an interval of length `span`.

    .. math:: \bar x - \sqrt{\frac{2 V \log(2 / \delta)}{n}} - \frac{7 b \log(2 / \delta)}{3 (n - 1)}

    with V the sample variance (Maurer and Pontil 2009). It holds with probability 1 - `failure_prob`.

    Examples
    --------
    Four equal values in [0, 1]: 1 - 7 log(20) / 9 is below 0:

    >>> round(bernstein_lower(np.ones(4), 1.0, 0.1), 3)
    -1.33
    """
    n = len(values)
    if n < 2:  # noqa: PLR2004
        return -math.inf
    log = math.log(2 / failure_prob)
    return float(values.mean() - math.sqrt(2 * values.var(ddof=1) * log / n) - 7 * span * log / (3 * (n - 1)))


def betting_lower(values: FloatArray, failure_prob: float, rng: np.random.Generator) -> float:
    r"""Lower bound on the mean of independent values >= 0, however large they may be.

    .. math:: K_t(m) = \prod_{i \le t} (1 + \lambda_i(m) (x_i - m)), \qquad
        \lambda_i(m) = \min\left(\frac{1}{2 m}, \sqrt{\frac{2 \log(1/\delta)}{n \hat\sigma^2_{i-1}}}\right)

    the least m at which no K_t(m) reaches 1 / delta: were m or less the mean, the wealth K would be a
    non-negative supermartingale that starts at 1 (Waudby-Smith and Ramdas 2024). K falls as m grows, so m is
    found by bisection. The values are bet on in random order. It holds with probability 1 - `failure_prob`.

    Examples
    --------
    >>> found = betting_lower(np.full(1000, 0.5), 0.05, np.random.default_rng(0))
    >>> bool(0.49 < found < 0.5)
    True
    """
    x = rng.permutation(values)
    bet = _bets(x, failure_prob)
    goal = math.log(1 / failure_prob)

    def rejected(mean: float) -> bool:
        """Whether betting against a mean this small has made enough."""
        stake = np.minimum(0.5 / mean, bet)
        return bool(np.cumsum(np.log1p(stake * (x - mean))).max() >= goal)

    low, high = 0.0, float(x.mean())
    for _ in range(50):
        middle = (low + high) / 2
        if middle <= 0:
            break
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


def _bets(x: FloatArray, failure_prob: float) -> FloatArray:
    """Stakes (n,), each told by the values before it alone.

    Nothing is bet before the first value above 0; as much as is allowed while all values are equal.
    """
    n = len(x)
    before = np.maximum(np.arange(n), 1)
    mean = (np.cumsum(x) - x) / before
    variance = np.maximum((np.cumsum(x * x) - x * x) / before - mean**2, 0.0)
    with np.errstate(divide="ignore"):
        stake = np.sqrt(2 * math.log(1 / failure_prob) / (n * variance))
    return np.where(mean > 0, stake, 0.0)
