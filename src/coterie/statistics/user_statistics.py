"""What a log says about each user, as sums: enough for every later stage, additive, and data only.

Takes: sums made by `summarize`, or arrays.
Gives: `UserStatistics`: add two, remove users, save and map back.
Paper: N_u, sum(r a) and sum(a a') of the equation for M_u and b_u, without the ridge term.
Next: `coterie.confidence`.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie import array_file, packed
from coterie.errors import FileError, LogError
from coterie.packed import FloatArray
from coterie.user_ids import Ids, UserIndex, as_ids, union

KIND = "statistics"
COLUMNS = ("count", "moment", "packed_gram", "reward_square", "longest")
_SYMMETRY_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class UserStatistics:
    r"""Per user the count, sum(r a), sum(a a') and sum(r^2) of the logged rows.

    No ridge prior is ever inside. `gram` is kept packed (lower triangle); `stats.gram` unpacks it.
    `longest` (U,) is the length of each user's longest action, NaN where it is not known (`from_arrays`).

    Examples
    --------
    >>> import numpy as np
    >>> sums = {"count": [2], "moment": [[1.0]], "gram": [[[2.0]]], "reward_square": [1.0]}
    >>> one = UserStatistics.from_arrays(users=["ann"], **sums)
    >>> (one + one).count.tolist(), one.without(["ann"]).n_users
    ([4.0], 0)
    """

    index: UserIndex
    count: FloatArray
    moment: FloatArray
    packed_gram: FloatArray
    reward_square: FloatArray
    longest: FloatArray
    features: tuple[str, ...] | None = None
    intercept: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in COLUMNS:
            object.__setattr__(self, name, packed.read_only(getattr(self, name)))

    def __repr__(self) -> str:
        """The statistics in one line."""
        return f"<statistics of {self.n_users} users, {self.n_samples:g} samples, {self.dim} coordinates>"

    @classmethod
    def from_arrays(
        cls,
        *,
        users: object,
        count: object,
        moment: object,
        gram: object,
        reward_square: object,
        features: Sequence[str] | None = None,
    ) -> "UserStatistics":
        """Statistics from copies of (U,), (U,), (U, d), (U, d, d) or packed (U, d (d + 1) / 2), (U,)."""
        index = UserIndex(np.array(as_ids(users)))
        if (twice := index.first_duplicate()) is not None:
            raise LogError(f"user {twice!r} occurs more than once in users; add the rows of a user first")
        sums = {"count": count, "moment": moment, "gram": gram, "reward_square": reward_square}
        arrays = {name: _float_array(name, value) for name, value in sums.items()}
        dim = _checked_dim(len(index), arrays)
        square = arrays["gram"].ndim == 3  # noqa: PLR2004
        gram_sums = _packed_symmetric(arrays["gram"]) if square else arrays["gram"]
        _require_semidefinite(index.ids, gram_sums)
        return cls(
            index=index,
            count=arrays["count"],
            moment=arrays["moment"],
            packed_gram=gram_sums,
            reward_square=arrays["reward_square"],
            longest=np.where(arrays["count"] > 0, np.nan, 0.0),
            features=_checked_features(features, dim),
        )

    @property
    def users(self) -> Ids:
        """User ids (U,)."""
        return self.index.ids

    @property
    def gram(self) -> FloatArray:
        """Square Gram sums (U, d, d), unpacked on each call."""
        return packed.unpack(self.packed_gram)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.index)

    @property
    def dim(self) -> int:
        """Length of the action vectors, the intercept included."""
        return int(self.moment.shape[1])

    @property
    def n_samples(self) -> float:
        """Sum of the counts."""
        return float(self.count.sum())

    @property
    def max_norm(self) -> float | None:
        """Length of the longest action, None where it is not known."""
        longest = float(self.longest.max(initial=0.0))
        return None if np.isnan(longest) else longest

    def __radd__(self, other: object) -> "UserStatistics":
        """Let `sum` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __add__(self, other: "UserStatistics") -> "UserStatistics":
        """Statistics of both logs together; users in ascending order unless both have the same users."""
        if not isinstance(other, UserStatistics):
            return NotImplemented
        self._require_same_actions(other)
        same = self.users.dtype == other.users.dtype and np.array_equal(self.users, other.users)
        index = self.index if same else UserIndex(union(self.users, other.users))
        return UserStatistics(
            index=index,
            count=_merged(index, self, other, "count"),
            moment=_merged(index, self, other, "moment"),
            packed_gram=_merged(index, self, other, "packed_gram"),
            reward_square=_merged(index, self, other, "reward_square"),
            longest=_merged(index, self, other, "longest"),
            features=self.features or other.features,
            intercept=self.intercept,
            dropped=_added(self.dropped, other.dropped),
        )

    def without(self, users: Sequence[object] | Ids) -> "UserStatistics":
        """Statistics without these users; each must be known and named once."""
        leaving = UserIndex(as_ids(users))
        if (twice := leaving.first_duplicate()) is not None:
            raise LogError(f"user {twice!r} is named more than once; name each user to leave out once")
        stay = np.ones(self.n_users, dtype=bool)
        stay[self.index.rows_of_known(leaving.ids)] = False
        return self.taking(np.flatnonzero(stay))

    def taking(self, rows: NDArray[np.int64]) -> "UserStatistics":
        """Statistics of the users in these rows, in this order."""
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, index=UserIndex(self.users[rows]), **columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one file, in one step."""
        arrays = {"users": self.users, **{name: getattr(self, name) for name in COLUMNS}}
        array_file.write(path, KIND, arrays, self.parameters())

    def parameters(self) -> dict[str, Any]:
        """What is not an array, for a file's manifest."""
        return {
            "features": None if self.features is None else list(self.features),
            "intercept": self.intercept,
            "dropped": dict(self.dropped),
            "ascending": self.index.ascending,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "UserStatistics":
        """Map a saved file: nothing is read before it is used."""
        opened = array_file.read(path, (KIND,))
        return cls.from_file(opened.arrays, opened.manifest.parameters)

    @classmethod
    def from_file(cls, arrays: array_file.Arrays, parameters: Mapping[str, Any]) -> "UserStatistics":
        """Statistics from the arrays and the parameters of an opened file."""
        try:
            features = parameters["features"]
            return cls(
                index=UserIndex(arrays["users"], ascending=bool(parameters.get("ascending"))),
                **{name: arrays[name] for name in COLUMNS},
                features=None if features is None else tuple(features),
                intercept=parameters["intercept"],
                dropped=parameters["dropped"],
            )
        except (KeyError, TypeError) as failure:
            raise FileError(
                f"the file holds no statistics of coterie: {failure} is missing or of the wrong kind; "
                "save it again from its source"
            ) from failure

    def _require_same_actions(self, other: "UserStatistics") -> None:
        if self.dim != other.dim:
            raise LogError(f"actions have {self.dim} coordinates here and {other.dim} there; they must agree")
        if self.intercept != other.intercept:
            raise LogError("one of the two has an intercept and the other has not; read both logs alike")
        if self.features is not None and other.features is not None and self.features != other.features:
            raise LogError(
                f"action columns differ: {', '.join(self.features)} here, {', '.join(other.features)} there; "
                "name the same columns in the same order"
            )


def _float_array(name: str, value: object) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError) as failure:
        raise LogError(f"{name} is not an array of numbers: {failure}") from failure
    if not np.isfinite(array).all():
        raise LogError(
            f"{name} has NaN or infinity for user row {int(np.argwhere(~np.isfinite(array))[0][0])}"
        )
    return array


def _checked_dim(n_users: int, arrays: dict[str, FloatArray]) -> int:
    moment, gram = arrays["moment"], arrays["gram"]
    dim = moment.shape[1] if moment.ndim == 2 else 0  # noqa: PLR2004
    wanted: dict[str, list[tuple[int, ...]]] = {
        "count": [(n_users,)],
        "moment": [(n_users, max(dim, 1))],
        "gram": [(n_users, dim, dim), (n_users, packed.packed_size(dim))],
        "reward_square": [(n_users,)],
    }
    for name, shapes in wanted.items():
        if arrays[name].shape not in shapes:
            raise LogError(
                f"{name} has shape {arrays[name].shape}; {' or '.join(map(str, shapes))} is required"
            )
    for name in ("count", "reward_square"):
        if n_users and arrays[name].min() < 0:
            raise LogError(
                f"{name} is negative for user row {int(arrays[name].argmin())}; it must be 0 or more"
            )
    empty = arrays["count"] == 0
    if np.any(moment[empty]) or np.any(gram[empty]):
        raise LogError("a user of count 0 has a moment or a gram that is not 0; give the count of its rows")
    return dim


def _packed_symmetric(gram: FloatArray) -> FloatArray:
    size = np.abs(gram).max(initial=0.0)
    if np.abs(gram - gram.transpose(0, 2, 1)).max(initial=0.0) > _SYMMETRY_TOLERANCE * size:
        raise LogError("gram is not symmetric; it must be the sum of a a' over a user's rows")
    return packed.pack(gram)


def _require_semidefinite(users: Ids, gram: FloatArray) -> None:
    """Nothing, if every gram can be a sum of squares: then it has a Cholesky factor, rounding apart."""
    dim = packed.dim_of(gram.shape[1]) or 1
    diagonal = gram[:, packed.diagonal_positions(dim)]
    slack = _SYMMETRY_TOLERANCE * np.abs(diagonal).max(axis=1) + np.finfo(np.float64).tiny
    for part in packed.chunks(len(gram), dim):
        try:
            packed.factorise(gram[part], slack[part])
        except np.linalg.LinAlgError:
            smallest = np.linalg.eigvalsh(packed.unpack(gram[part]))[:, 0]
            worst = users[part][int(np.argmin(smallest + slack[part]))].item()
            raise LogError(
                f"gram of user {worst!r} has a negative eigenvalue; it must be the sum of a a' over her rows"
            ) from None


def _checked_features(features: Sequence[str] | None, dim: int) -> tuple[str, ...] | None:
    if features is not None and len(features) != dim:
        raise LogError(f"features names {len(features)} coordinates and actions have {dim}")
    return None if features is None else tuple(features)


def _merged(index: UserIndex, left: UserStatistics, right: UserStatistics, name: str) -> FloatArray:
    """Sum of both columns per user; the larger one of `longest`, unknown where either is."""
    values = getattr(left, name)
    total = np.zeros((len(index), *values.shape[1:]))
    add = np.maximum if name == "longest" else np.add
    for part in (left, right):
        if part.n_users:
            rows = index.rows(part.users)
            total[rows] = add(total[rows], getattr(part, name))
    return total


def _added(left: Mapping[str, int], right: Mapping[str, int]) -> Mapping[str, int]:
    kinds = dict.fromkeys([*left, *right])
    return {kind: left.get(kind, 0) + right.get(kind, 0) for kind in kinds}
