"""Compiled sums over rows, tables of integer and text ids, and a permutation in place; twins in `_plain.py`.

The dimension is a compile-time constant up to 32; the compiled code is cached on disk, one entry a
dimension.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from coterie._memory import addresses, number, prefetch

_LARGEST_CONSTANT_DIM = 32
_AHEAD = 8  # rows between asking for one and using it
_LINES = 64  # cache lines of a user's sums asked for; beyond, the processor has seen the pattern

Accumulate = Callable[..., None]
Arrays = Sequence[NDArray[np.float64]]
Code = tuple[int, int]


def accumulate_for(dim: int) -> Accumulate:
    """Kernel that adds rows sorted by user; see `_plain.accumulate` for what it does."""
    compiled = _compiled(dim if dim <= _LARGEST_CONSTANT_DIM else 0)

    def accumulate(
        keys: NDArray[np.int64], code: Code, action: Arrays, reward: Arrays, weight: Arrays, *sums: Any
    ) -> None:
        compiled(keys, *code, *map(addresses, (action, reward, weight)), *sums)

    return accumulate


def _given(dtype: Any, ndim: int) -> Any:
    """Type of an argument that is only read, so that mapped and shared arrays need no code of their own."""
    return nb.types.Array(dtype, ndim, "C", readonly=True)


_ACCUMULATE = nb.void(
    _given(nb.int64, 1), nb.int64, nb.int64, _given(nb.int64, 1), _given(nb.int64, 1), _given(nb.int64, 1),
    nb.float64[::1], nb.float64[:, ::1], nb.float64[:, ::1], nb.float64[::1], nb.float64[::1],
)  # fmt: skip


@nb.njit(nogil=True, fastmath={"contract", "reassoc"}, inline="always")
def _square_length(a: Any, first: int, dim: int) -> float:
    total = 0.0
    for k in range(first, first + dim):
        total += a[k] * a[k]
    return total


@nb.njit(nogil=True, fastmath={"contract"}, inline="always")
def _add_four(a: Any, w: Any, r: Any, moment: Any, gram: Any, dim: int) -> None:
    """Add four rows of one user, kept end to end in `a`, to her moment and packed Gram."""
    b0, b1, b2, b3 = w[0] * r[0], w[1] * r[1], w[2] * r[2], w[3] * r[3]
    for k in range(dim):
        total = moment[k]
        total += b0 * a[k]
        total += b1 * a[dim + k]
        total += b2 * a[2 * dim + k]
        total += b3 * a[3 * dim + k]
        moment[k] = total
    at = 0
    for j in range(dim):
        b0, b1, b2, b3 = w[0] * a[j], w[1] * a[dim + j], w[2] * a[2 * dim + j], w[3] * a[3 * dim + j]
        for k in range(j + 1):
            total = gram[at + k]
            total += b0 * a[k]
            total += b1 * a[dim + k]
            total += b2 * a[2 * dim + k]
            total += b3 * a[3 * dim + k]
            gram[at + k] = total
        at += j + 1


@cache
def _compiled(fixed: int) -> Accumulate:
    """Kernel for dimension `fixed`, or for any dimension if that is 0.

    Four rows of a user are added in one sweep over her sums, each number taking them one after the
    other: a quarter of the memory traffic, and to the last bit the sums of one row at a time. Rows lie
    anywhere in a batch and sums anywhere in memory, so both are asked for before they are needed.
    """

    @nb.njit(_ACCUMULATE, nogil=True, cache=True, fastmath={"contract"})
    def accumulate(
        keys: Any, shift: int, bits: int, action: Any, reward: Any, weight: Any, count: Any, moment: Any,
        gram: Any, square: Any, longest: Any,
    ) -> None:  # fmt: skip
        dim = fixed if fixed > 0 else moment.shape[1]
        n, size, sums = keys.shape[0], gram.shape[1], gram.ctypes.data
        parts, rows = (1 << (shift - bits)) - 1, (1 << bits) - 1
        a, w, r = np.zeros(4 * dim), np.zeros(4), np.zeros(4)
        start = 0
        while start < n:
            u, m = keys[start] >> shift, 0
            while m < 4 and start < n and keys[start] >> shift == u:  # noqa: PLR2004
                p, i = (keys[start] >> bits) & parts, keys[start] & rows
                if start + _AHEAD < n:
                    coming = keys[start + _AHEAD]
                    q, j = (coming >> bits) & parts, coming & rows
                    for k in range(0, dim + 7, 8):
                        prefetch(action[q], j * dim + min(k, dim - 1))
                    prefetch(reward[q], j)
                w[m], r[m] = number(weight[p], i) if weight.shape[0] else 1.0, number(reward[p], i)
                for k in range(dim):
                    a[m * dim + k] = number(action[p], i * dim + k)
                start += 1
                m += 1
            if start + 1 < n and keys[start + 1] >> shift != u:
                coming = (keys[start + 1] >> shift) * size
                for k in range(0, min(size, _LINES * 8), 8):
                    prefetch(sums, coming + k)
            for z in range(m, 4):
                w[z] = r[z] = 0.0
                a[z * dim : (z + 1) * dim] = 0.0
            for z in range(m):
                if w[z] > 0:
                    longest[u] = max(longest[u], _square_length(a, z * dim, dim))
                count[u] += w[z]
                square[u] += w[z] * r[z] * r[z]
            _add_four(a, w, r, moment[u], gram[u], dim)

    compiled: Accumulate = accumulate
    return compiled


@nb.njit(nb.void(_given(nb.int64, 1), nb.float64[:, :]), nogil=True, cache=True)
def permute(order: Any, values: Any) -> None:
    """Bring `values[order]` into `values` itself, cycle by cycle; see `_plain.permute`."""
    n, width = values.shape
    moved = np.zeros(n, dtype=np.bool_)
    first = np.empty(width, dtype=values.dtype)
    for start in range(n):
        if moved[start]:
            continue
        first[:] = values[start]
        here = start
        while order[here] != start:
            values[here] = values[order[here]]
            moved[here] = True
            here = order[here]
        values[here] = first
        moved[here] = True


@nb.njit(nogil=True, cache=True, inline="always")
def _mixed(key: Any) -> Any:
    """Bits of a 64-bit key, each depending on all (the finish of splitmix64)."""
    mixed = np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@nb.njit(nogil=True, cache=True)
def look_up_or_add(ids: Any, keys: Any, rows: Any, n_known: int, out: Any) -> int:
    """Number of ids known afterwards; `out` gets each id's row. See `_plain.look_up_or_add`.

    An open table with linear probing: `rows` is -1 where a slot is free, and `keys` has a power of two
    slots, of which at least a third must stay free (the caller grows it beforehand).
    """
    mask = np.uint64(keys.shape[0] - 1)
    for i in range(ids.shape[0]):
        key = ids[i]
        slot = _mixed(key) & mask
        while rows[slot] >= 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if rows[slot] < 0:
            keys[slot] = key
            rows[slot] = n_known
            n_known += 1
        out[i] = rows[slot]
    return n_known


@nb.njit(nogil=True, cache=True)
def look_up_or_add_text(
    begin: Any, data: Any, tags: Any, rows: Any, starts: Any, kept: Any, n_known: int, out: Any
) -> int:
    """The same for texts: text i is `data[begin[i] : begin[i + 1]]`.

    A slot has the row and 32 more bits of the hash; the bytes of known texts lie end to end in `kept`,
    those of row r from `starts[r]` to `starts[r + 1]`, and both have room for all that may be new.
    """
    mask = np.uint64(tags.shape[0] - 1)
    for i in range(begin.shape[0] - 1):
        low, length = begin[i], begin[i + 1] - begin[i]
        key = _hash(data, low, length)
        tag, slot = np.uint32(key >> np.uint64(32)), key & mask
        while True:
            known = rows[slot]
            if known < 0:
                break
            if tags[slot] == tag and starts[known + 1] - starts[known] == length:
                same, at = True, starts[known]
                for k in range(length):
                    same = same and kept[at + k] == data[low + k]
                if same:
                    break
            slot = (slot + np.uint64(1)) & mask
        if rows[slot] < 0:
            tags[slot], rows[slot] = tag, n_known
            at = starts[n_known]
            for k in range(length):
                kept[at + k] = data[low + k]
            n_known += 1
            starts[n_known] = at + length
        out[i] = rows[slot]
    return n_known


@nb.njit(nogil=True, cache=True)
def _hash(data: Any, low: int, length: int) -> Any:
    """64 bits of some bytes, eight at a time."""
    total = np.uint64(length)
    word = np.uint64(0)
    for k in range(length):
        word = (word << np.uint64(8)) | np.uint64(data[low + k])
        if k % 8 == 7:  # noqa: PLR2004
            total = _mixed(total ^ word) * np.uint64(0x9E3779B97F4A7C15)
            word = np.uint64(0)
    return _mixed(total ^ word)


@nb.njit(nogil=True, cache=True)
def rehash_text(starts: Any, kept: Any, n_known: int, tags: Any, rows: Any) -> None:
    """Enter the known texts into an empty table of another size."""
    mask = np.uint64(tags.shape[0] - 1)
    for row in range(n_known):
        key = _hash(kept, starts[row], starts[row + 1] - starts[row])
        slot = key & mask
        while rows[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        tags[slot], rows[slot] = np.uint32(key >> np.uint64(32)), row


@nb.njit(nogil=True, cache=True)
def code_points(starts: Any, kept: Any, out: Any) -> int:
    """Longest text in characters; `out` (n, width) gets the code points of UTF-8 texts, as many as fit."""
    width = out.shape[1]
    longest = 0
    for row in range(starts.shape[0] - 1):
        n = 0
        at = starts[row]
        while at < starts[row + 1]:
            lead = np.uint32(kept[at])
            more = 0 if lead < 0x80 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3  # noqa: PLR2004
            point = lead if more == 0 else lead & np.uint32(0x3F >> more)
            for k in range(1, more + 1):
                point = (point << np.uint32(6)) | np.uint32(kept[at + k] & 0x3F)
            if n < width:
                out[row, n] = point
            n += 1
            at += more + 1
        longest = max(longest, n)
    return longest


def empty_table(slots: int, dtype: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Free slots: keys (or tags) and rows."""
    return np.zeros(slots, dtype=dtype), np.full(slots, -1, dtype=np.int32)
