"""Off-policy estimators, intervals and lower bounds on a world whose value is known.

A user's preference vector is drawn from a normal distribution; eight actions are shared; a reward is 1 with
probability 1 / (1 + exp(-theta' a)). The log is uniform, or prefers actions that a poor guess of theta
likes (softmax). The policy that is judged takes the best action by a fair guess of theta. Its value is an
average over 400,000 users; the value over the users of one log is known as well.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from benchmarks.harness import Claim, Result
from numpy.typing import NDArray
from scipy.stats import multinomial

from coterie.evaluation.held_out import per_user
from coterie.evaluation.intervals import bernstein_lower, betting_lower
from coterie.evaluation.off_policy import ESTIMATORS, Weighed, clipped, value
from coterie.evaluation.policy_values import interval_of

RUNS, USERS, ROWS, DIM, ACTIONS = 2000, 100, 20, 3, 8
_CLIPS = (2.0, 4.0, 8.0, 1e9)
_SIZES = (5, 20, 80, 320)
_EXACT = (3, 6, 12, 25, 50, 100)
_SELDOM, _OFTEN, _NEVER = 0.2, 0.9, 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class World:
    """Actions, the guesses of users' vectors by the judged and the logging policy, how evenly it logs."""

    actions: Floats
    guess: Floats
    logging: Floats
    sharpness: float

    def users(self, n: int, rng: np.random.Generator) -> Floats:
        """Preference vectors (n, d)."""
        return 0.4 + rng.standard_normal((n, DIM))

    def means(self, theta: Floats) -> Floats:
        """True mean rewards (n, K)."""
        return 1 / (1 + np.exp(-theta @ self.actions.T))

    def choice(self, theta: Floats) -> NDArray[np.int64]:
        """What the judged policy takes (n,)."""
        return np.argmax(theta @ self.guess @ self.actions.T, axis=1)

    def propensities(self, theta: Floats) -> Floats:
        """Logging probabilities (n, K)."""
        score = np.exp(self.sharpness * (theta @ self.logging @ self.actions.T))
        return 0.5 / ACTIONS + 0.5 * score / score.sum(axis=1, keepdims=True)

    def of(self, theta: Floats) -> float:
        """Mean value over these users."""
        return float(np.take_along_axis(self.means(theta), self.choice(theta)[:, None], axis=1).mean())


@dataclass(frozen=True, eq=False)
class Log:
    """Rows of one log, as the estimators take them, with a wrong reward model, and with the true one."""

    user: NDArray[np.int64]
    wrong: Weighed
    true: Weighed
    least: float
    value: float


def world(sharpness: float) -> World:
    """The world; sharpness 0 logs uniformly."""
    rng = np.random.default_rng(5)
    actions = rng.standard_normal((ACTIONS, DIM))
    guess, logging = (np.eye(DIM) + size * rng.standard_normal((DIM, DIM)) for size in (0.5, 1.0))
    return World(actions, guess, logging, sharpness)


def draw(place: World, n_rows: int, rng: np.random.Generator) -> Log:
    """A log of fresh users, each row of a random one of them."""
    theta = place.users(USERS, rng)
    mean, p, choice = place.means(theta), place.propensities(theta), place.choice(theta)
    user = rng.integers(0, USERS, n_rows)
    action = (rng.random(n_rows)[:, None] > np.cumsum(p[user], axis=1)).sum(axis=1).clip(0, ACTIONS - 1)
    reward = (rng.random(n_rows) < mean[user, action]).astype(np.float64)
    weight = (action == choice[user]) / p[user, action]
    wrong = 0.3 + 0.4 * mean**2
    told = [Weighed(weight, reward, q[user, action], q[user, choice[user]]) for q in (wrong, mean)]
    return Log(user, told[0], told[1], float(p.min()), place.of(theta))


def biases(place: World, n_rows: int, runs: int, seed: int) -> dict[str, tuple[float, float]]:
    """Mean error of every estimator over logs, and its Monte-Carlo standard error.

    The error is taken from the value over the log's own users, whose mean is the value: less chance.
    """
    rng, found = np.random.default_rng(seed), dict[str, list[float]]()
    for _ in range(runs):
        log = draw(place, n_rows, rng)
        for name, estimate in _estimates(log):
            found.setdefault(name, []).append(estimate - log.value)
    return {n: (float(np.nanmean(e)), float(np.nanstd(e) / np.sqrt(len(e)))) for n, e in found.items()}


def _estimates(log: Log) -> Iterator[tuple[str, float]]:
    for name, estimator in ESTIMATORS.items():
        yield name, value(estimator(log.wrong))
    yield "direct, true q", value(ESTIMATORS["direct"](log.true))
    yield "doubly_robust, true q", value(ESTIMATORS["doubly_robust"](log.true))
    for most in _CLIPS:
        yield f"ips clipped at {most:g}", value(ESTIMATORS["ips"](clipped(log.wrong, most)))


def snips_bias(n_rows: int) -> float:
    """Exact bias of the self-normalised estimate where what is paid is seldom logged, over all logs.

    Half of the rows pay 1 for the judged policy's action, which is logged with probability 0.2; the others
    pay 0, and it is logged with 0.9. Logs of which no row counts have no estimate and are left out.
    """
    kinds = np.array([_SELDOM / 2, _OFTEN / 2, 1 - (_SELDOM + _OFTEN) / 2])
    weight, reward = np.array([1 / _SELDOM, 1 / _OFTEN, 0.0]), np.array([1.0, 0.0, 0.0])
    nothing = np.zeros(n_rows)
    told = total = 0.0
    for paid in range(n_rows + 1):
        for unpaid in range(n_rows + 1 - paid):
            numbers = (paid, unpaid, n_rows - paid - unpaid)
            chance = float(multinomial.pmf(numbers, n_rows, kinds))
            if paid + unpaid and chance > _NEVER:
                kind = np.repeat(np.arange(3), numbers)
                rows = Weighed(weight[kind], reward[kind], nothing, nothing)
                told += chance * value(ESTIMATORS["snips"](rows))
                total += chance
    return told / total - 0.5


def snips_limit() -> float:
    r"""What n times that bias tends to: -E[w^2 (r - v)], by the expansion of a ratio of means."""
    return -(0.5 / _SELDOM * 0.5 + 0.5 / _OFTEN * -0.5)


def coverage(place: World, truth: float, runs: int, seed: int) -> dict[str, float]:
    """Share of the intervals that hold the value, and of the lower bounds that lie below it."""
    rng, hits = np.random.default_rng(seed), dict[str, list[bool]]()
    for _ in range(runs):
        log = draw(place, USERS * ROWS, rng)
        for name in ("ips", "snips", "doubly_robust"):
            pair = ESTIMATORS[name](log.wrong)
            sums = np.column_stack([per_user(log.user, part, USERS) for part in pair])
            low, high = interval_of(sums[sums[:, 1] > 0], 0.95, rng)
            inside = low is not None and high is not None and low <= truth <= high
            hits.setdefault(f"bootstrap, {name}", []).append(inside)
        above = log.wrong.weight * log.wrong.reward
        bounds: dict[str, Callable[[], float]] = {
            "empirical Bernstein": lambda above=above, log=log: bernstein_lower(above, 1 / log.least, 0.05),
            "betting": lambda above=above: betting_lower(above, 0.05, rng),
        }
        for name, bound in bounds.items():
            hits.setdefault(name, []).append(bound() <= log.value)
    return {name: float(np.mean(told)) for name, told in hits.items()}


def run(*, quick: bool = False) -> Result:
    """Biases in standard errors, how they vanish, and coverage."""
    runs = 100 if quick else RUNS
    skewed, uniform = world(1.0), world(0.0)
    rng = np.random.default_rng(1)
    truth = skewed.of(skewed.users(20_000 if quick else 400_000, rng))
    n = USERS * ROWS
    by = biases(skewed, n, 10 * runs, 2)
    evenly = biases(uniform, n, 10 * runs, 3)
    notes = [f"Value {truth:.4f}; bias (standard error) over {10 * runs} logs of {n} rows:"]
    notes += ["\n".join(f"- {name}: {bias:+.5f} ({error:.5f})" for name, (bias, error) in by.items())]
    notes += [
        "Uniform logging: " + ", ".join(f"{m} {evenly[m][0]:+.5f} ({evenly[m][1]:.5f})" for m in evenly)
    ]
    claims = [
        Claim(f"bias of {name}, in standard errors", abs(bias) / error, 3.0)
        for name, (bias, error) in [
            *(
                (name, by[name])
                for name in ("ips", "doubly_robust", "direct, true q", "doubly_robust, true q")
            ),
            *((f"{name}, uniform logging", evenly[name]) for name in ("ips", "doubly_robust", "replay")),
            ("ips clipped above every weight", by["ips clipped at 1e+09"]),
        ]
    ]
    small = {size: biases(skewed, size, 10 * runs, 4)["snips"] for size in _SIZES}
    listed = ", ".join(f"{size} rows {bias:+.4f} ({error:.4f})" for size, (bias, error) in small.items())
    notes += [f"Bias of snips by the size of the log: {listed}."]
    bias, error = small[_SIZES[-1]]
    claims.append(Claim("bias of snips at 320 rows, in standard errors", abs(bias) / error, 3.0))
    exact = {size: snips_bias(size) for size in _EXACT}
    listed = ", ".join(
        f"{size} rows {bias:+.4f} (times rows {size * bias:+.3f})" for size, bias in exact.items()
    )
    notes += [
        "Exact bias of snips over all logs of a small world where what is paid is seldom logged: "
        f"{listed}; times rows it tends to {snips_limit():+.3f}."
    ]
    off = abs(_EXACT[-1] * exact[_EXACT[-1]] / snips_limit() - 1)
    claims.append(
        Claim("exact bias of snips times rows, at 100 rows, relative to its limit less 1", off, 0.1)
    )
    for name, share in coverage(skewed, truth, runs, 5).items():
        claims.append(
            Claim(f"coverage, {name}, at least", share, 0.93 if "boot" in name else 0.95, at_least=True)
        )
        if "boot" in name:
            claims.append(Claim(f"coverage, {name}, at most", share, 0.97))
    sizes = {"runs": runs, "users": USERS, "rows": n, "d": DIM, "actions": ACTIONS}
    return Result("estimators", [], claims, sizes, tuple(notes))
