r"""Who lends to whom under a mixture: users who are likely to be of one component.

Takes: responsibilities (U + 1, K), the last row being that of a user never seen.
Gives: `SharedComponents`, a neighbourhood with degrees.
Paper: none.
Next: `coterie.model`.
"""

from dataclasses import dataclass

import numpy as np

from coterie import packed
from coterie.neighbourhood.neighbourhood import Groups, Trace
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

_ENOUGH = 0.5  # of the largest probability that a user shares a component with somebody


@dataclass(frozen=True, eq=False)
class SharedComponents:
    r"""v lends to u in proportion to the probability that both are of one component.

    .. math:: s_{uv} = \sum_k p_{uk} p_{vk}, \quad s_{uu} = 1

    Those named as lenders share at least half of the largest such probability. `own` (U + 1,) is the
    share of the information on a user's vector that is in her own rows.
    """

    responsibility: FloatArray
    own: FloatArray

    def __post_init__(self) -> None:
        for name in ("responsibility", "own"):
            object.__setattr__(self, name, packed.read_only(getattr(self, name)))

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.responsibility) - 1

    def shared(self, row: int) -> FloatArray:
        """Probability (U,) that each user is of the component of the one in this row; 1 with herself."""
        shared = np.einsum("vk,k->v", self.responsibility[:-1], self.responsibility[row])
        if row < self.n_users:
            shared[row] = 1.0
        return np.asarray(shared)

    def groups(self, columns: tuple[FloatArray, ...], progress: Progress = silent) -> Groups:
        """Sums over all users, each in proportion; every user is a group of her own."""
        n, p = self.n_users, self.responsibility
        itself = 1.0 - np.einsum("uk,uk->u", p[:-1], p[:-1])
        sums = []
        for column in (np.ones(n), *columns):
            flat = column.reshape(n, -1)
            by_component = np.einsum("uk,uj->kj", p[:-1], flat)
            total = np.einsum("uk,kj->uj", p, by_component)
            total[:-1] += itself[:, np.newaxis] * flat
            sums.append(total.reshape(n + 1, *column.shape[1:]))
        sums[0][-1] += 1
        progress("pooling", 1, 1)
        return Groups(np.arange(n + 1), tuple(sums[1:]), sums[0])

    def trace(self, row: int) -> Trace:
        """One minus the shared probability stands for a distance."""
        shared = self.shared(row)
        others = shared.copy()
        if row < self.n_users:
            others[row] = 0.0
        limit = _ENOUGH * float(others.max(initial=0.0))
        lends = shared >= limit if limit > 0 else shared == 1.0
        return Trace(1.0 - shared, np.full(len(shared), 1.0 - limit), lends)

    def reason(self, row: int, other: int, trace: Trace) -> str:  # noqa: ARG002
        """How little is shared."""
        return f"of one component with probability {max(1 - trace.distance[other], 0.0):.3g}"
