"""Plain twin of the compiled distances."""

from typing import Any

import numpy as np


def pairwise(one: Any, across: Any, out: Any) -> None:
    """Distances of rows (b, d) to columns (d, n): squares added in the order of coordinates."""
    out[:] = 0.0
    for k in range(one.shape[1]):
        gap = one[:, k, np.newaxis] - across[k]
        out += gap * gap
    np.sqrt(out, out=out)
