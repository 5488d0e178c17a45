"""Algorithm 1 (Off-C2LUB: initialize, connecting condition, aggregation, decision), Algorithm 2 (Off-CLUB)
and the gap policies over M(u) in plain loops, the library's oracle; the letters are the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Rows = Sequence[tuple[Array, Array]]  # per user: actions (N_u, d) and rewards (N_u,)
Decision = tuple[int, list[float], list[float], list[float]]  # index, estimates, widths, scores


@dataclass(frozen=True)
class Settings:
    """Every parameter of every algorithm; one that an algorithm does not use is ignored by it."""

    lam: float = 0.5
    delta: float = 0.01
    noise: float = 1.0
    theta_bound: float = 1.0
    regularity: tuple[str] | tuple[str, float] = ("observed",)  # or ("smoothed", x), ("iid", x)
    alpha: float = 1.0
    gap: float | str = "over"  # or "under", or a number
    sharing: str = "own"  # or "mutual", "global"
    min_samples: float | str = "theory"  # or a number
    sign: int = -1
    form: str = "norm"  # or "squared"
    scale: float = 1.0
    proof: bool = False  # the multiplier ends in theta_bound * sqrt(lam * n), as in the proofs

    def __post_init__(self) -> None:
        assert (self.regularity[0], len(self.regularity)) in {("observed", 1), ("smoothed", 2), ("iid", 2)}
        assert not isinstance(self.gap, str) or self.gap in ("under", "over"), self.gap
        assert self.sharing in ("own", "mutual", "global"), self.sharing
        assert not isinstance(self.min_samples, str) or self.min_samples == "theory", self.min_samples
        assert self.form in ("norm", "squared"), self.form


@dataclass(frozen=True)
class User:
    """All that is known of one user; `distance` and `margin` are lists over the U users of the data."""

    settings: Settings
    theta_hat: Array
    CI: float
    gap: float  # the gamma_hat used for this user; 0 where the algorithm has none
    gap_margin: float  # smallest |Gamma(u, v)| over v; inf where M(u) is not asked for
    distance: list[float]
    margin: list[float]  # |left - right| of the edge's comparison; inf where no two finite sides decide
    neighbours: list[int]  # sorted, herself included; the unseen user's own index is U
    N_pooled: int
    n_pooled: int
    theta_tilde: Array
    M_tilde: Array
    beta: float

    def decide(self, actions: Array) -> Decision:
        """The decision phase of both algorithms; ties go to the lowest index."""
        estimates, widths, scores, best = list[float](), list[float](), list[float](), 0
        M_inverse = np.linalg.inv(self.M_tilde)
        for k, a in enumerate(actions):
            square = float(a @ M_inverse @ a)
            length = square if self.settings.form == "squared" else math.sqrt(square)
            estimates.append(float(self.theta_tilde @ a))
            widths.append(self.settings.scale * self.beta * length)
            scores.append(estimates[k] + self.settings.sign * widths[k])
            if scores[k] > scores[best]:
                best = k
        return best, estimates, widths, scores


class Result:
    """The fields of the users, as lists over users, and of a virtual user without data, in `unseen`."""

    def __init__(self, everybody: list[User]) -> None:
        self.users, self.unseen = everybody[:-1], everybody[-1]
        self.theta_hat = [user.theta_hat for user in self.users]
        self.CI = [user.CI for user in self.users]
        self.gap = [user.gap for user in self.users]
        self.gap_margin = [user.gap_margin for user in self.users]
        self.neighbours = [user.neighbours for user in self.users]
        self.N_pooled = [user.N_pooled for user in self.users]
        self.n_pooled = [user.n_pooled for user in self.users]
        self.theta_tilde = [user.theta_tilde for user in self.users]
        self.M_tilde = [user.M_tilde for user in self.users]
        self.beta = [user.beta for user in self.users]
        self.distance = [user.distance for user in self.users]
        self.margin = [user.margin for user in self.users]

    def decide(self, u: int, actions: Array) -> Decision:
        return self.users[u].decide(actions)


def multiplier(N: int, n: int, U: int, d: int, settings: Settings) -> float:
    """beta, and the numerator of CI_u with n = 1."""
    s = settings
    root = math.sqrt(d * math.log(1 + N / (s.lam * n * d)) + 2 * math.log(2 * U / s.delta))
    return s.noise * root + s.theta_bound * math.sqrt(s.lam * n if s.proof else s.lam)


def radius(gram: Array, N_u: int, U: int, settings: Settings) -> float:
    """CI_u."""
    d = len(gram)
    numerator = multiplier(N_u, 1, U, d, settings)
    if len(settings.regularity) == 1:
        return numerator / math.sqrt(float(np.linalg.eigvalsh(settings.lam * np.eye(d) + gram)[0]))
    if N_u == 0:
        return math.inf
    return numerator / math.sqrt(settings.regularity[1] * N_u / 2)


def minimum_count(U: int, d: int, settings: Settings) -> float:
    """N_min."""
    if not isinstance(settings.min_samples, str):
        return settings.min_samples
    if len(settings.regularity) == 1:
        return 0.0
    x = settings.regularity[1]
    return 16 / x**2 * math.log(8 * U * d / (x**2 * settings.delta))


def off_club(rows: Rows, settings: Settings) -> Result:
    """Algorithm 2: the complete graph without the separated pairs."""
    world = _Initial(rows, settings)
    for u, v in world.pairs:
        left, right = world.distance[u][v], world.slack(u, v)
        world.margin[u][v] = abs(left - right)
        if left > right:
            continue  # the edge is removed
        world.edges.append((u, v))
    return world.aggregate()


def off_c2lub(rows: Rows, settings: Settings) -> Result:
    """Algorithm 1: the null graph with the connected pairs.

    The condition is compared as Gamma_tilde(u, v) < gamma_hat, alpha (CI_u + CI_v) moved to the left: so the
    overestimation policy's tie with the very v that sets gamma_hat is an exact tie, margin 0.0 and no edge.
    """
    world = _Initial(rows, settings)
    N_min = minimum_count(world.U, world.d, settings)
    world.choose_gaps()
    for u, v in world.pairs:
        if min(world.N[u], world.N[v]) < N_min or math.isinf(world.CI[u] + world.CI[v]):
            continue
        left = world.distance[u][v] + world.slack(u, v)
        rights = [world.gap[u], world.gap[v]] if settings.sharing == "mutual" else [world.gap[u]]
        world.margin[u][v] = min(abs(left - right) for right in rights)
        if all(left < right for right in rights):
            world.edges.append((u, v))
    return world.aggregate(prior_per_user=True)


def independent(rows: Rows, settings: Settings) -> Result:
    """Every user alone: the null graph."""
    return _Initial(rows, settings).aggregate()


def pooled(rows: Rows, settings: Settings) -> Result:
    """Everybody together: the complete graph."""
    world = _Initial(rows, settings)
    world.edges = world.pairs
    return world.aggregate()


def oracle(rows: Rows, labels: Sequence[object], settings: Settings) -> Result:
    """The true clusters: the edges within a label."""
    world = _Initial(rows, settings)
    world.edges = [(u, v) for u, v in world.pairs if u < world.U and labels[u] == labels[v]]
    return world.aggregate()


class _Initial:
    """Initialization of both algorithms; index U is the unseen user, without rows, who never lends."""

    def __init__(self, rows: Rows, settings: Settings) -> None:
        self.settings = settings
        self.U, self.d = len(rows), rows[0][0].shape[1]
        self.rows = [*rows, (np.zeros((0, self.d)), np.zeros(0))]
        self.N = [len(A) for A, _ in self.rows]
        self.CI, self.theta_hat = list[float](), list[Array]()
        for u in range(self.U + 1):
            gram, b = self.sums([u])
            M = settings.lam * np.eye(self.d) + gram
            self.theta_hat.append(np.linalg.inv(M) @ b)
            self.CI.append(radius(gram, self.N[u], self.U, settings))
        theta = self.theta_hat
        self.distance = [[math.dist(theta[u], theta[v]) for v in range(self.U)] for u in range(self.U + 1)]
        self.margin = [[math.inf] * self.U for _ in range(self.U + 1)]
        self.gap, self.gap_margin = [0.0] * (self.U + 1), [math.inf] * (self.U + 1)
        # an edge is (receiver, lender)
        self.pairs = [(u, v) for u in range(self.U + 1) for v in range(self.U) if v != u]
        self.edges = list[tuple[int, int]]()

    def sums(self, users: list[int]) -> tuple[Array, Array]:
        """sum of a a' and sum of r a over the rows of these users."""
        gram, b = np.zeros((self.d, self.d)), np.zeros(self.d)
        for v in users:
            for a, r in zip(*self.rows[v], strict=True):
                gram += np.outer(a, a)
                b += r * a
        return gram, b

    def slack(self, u: int, v: int) -> float:
        """alpha (CI_u + CI_v); an infinite radius stays infinite at alpha = 0."""
        both = self.CI[u] + self.CI[v]
        return both if math.isinf(both) else self.settings.alpha * both

    def choose_gaps(self) -> None:
        """gamma_hat of every user: the number given, or the policy's minimum over M(u)."""
        if not isinstance(self.settings.gap, str):
            self.gap = [self.settings.gap] * (self.U + 1)
            return
        separated = list[int]()  # the users of the data whose M(u) is not empty
        for u in range(self.U + 1):
            Gamma = {v: self.distance[u][v] - self.slack(u, v) for v in range(self.U) if v != u}
            Gamma_tilde = {v: self.distance[u][v] + self.slack(u, v) for v in Gamma}
            M = [v for v in Gamma if Gamma[v] > 0]
            chosen = Gamma if self.settings.gap == "under" else Gamma_tilde
            self.gap[u] = min((chosen[v] for v in M), default=0.0)
            self.gap_margin[u] = min((abs(Gamma[v]) for v in Gamma), default=math.inf)
            if M and u < self.U:
                separated.append(u)
        if self.settings.sharing == "global":
            self.gap = [min((self.gap[u] for u in separated), default=0.0)] * (self.U + 1)

    def aggregate(self, prior_per_user: bool = False) -> Result:
        """D_tilde, M_tilde, theta_tilde, beta of every user, over herself and her one-hop neighbours."""
        everybody = list[User]()
        for u in range(self.U + 1):
            neighbours = sorted([u, *(v for receiver, v in self.edges if receiver == u)])
            n = len(neighbours) if prior_per_user else 1
            gram, b = self.sums(neighbours)
            M_tilde = self.settings.lam * n * np.eye(self.d) + gram
            N_pooled = sum(self.N[v] for v in neighbours)
            theta_tilde = np.linalg.inv(M_tilde) @ b
            beta = multiplier(N_pooled, n, self.U, self.d, self.settings)
            first = (self.theta_hat[u], self.CI[u], self.gap[u], self.gap_margin[u])
            graph, pool = (self.distance[u], self.margin[u], neighbours), (N_pooled, len(neighbours))
            everybody.append(User(self.settings, *first, *graph, *pool, theta_tilde, M_tilde, beta))
        return Result(everybody)
