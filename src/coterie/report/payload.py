"""What a page carries: plain values and packed arrays in one compressed piece of text.

Takes: JSON values, and arrays that may be rounded to 8 or 16 bits.
Gives: base64 text that `assets/base.js` opens again.
Next: `page`.
"""

import base64
import gzip
import math
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

Scale = Literal["linear", "log"]

_TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "f4": np.float32}
_RESERVED = 2  # the two highest codes of a logarithmic array: 0, and infinity


class Payload:
    """Values and arrays that are on their way into a page.

    Examples
    --------
    >>> payload = Payload({"title": "one"})
    >>> payload.rounded("x", np.array([0.0, 0.5, 1.0]), bits=8)
    >>> payload.arrays["x"]["type"], payload.raw_bytes
    ('u1', 3)
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.arrays: dict[str, dict[str, Any]] = {}
        self._parts: dict[str, bytes] = {}

    @property
    def raw_bytes(self) -> int:
        """Bytes of all arrays, uncompressed."""
        return sum(entry["length"] * int(entry["type"][1]) for entry in self.arrays.values())

    def exact(self, name: str, array: NDArray[Any]) -> None:
        """Add whole numbers as the smallest type that holds them, others as 32-bit numbers."""
        whole = bool((array == np.floor(array)).all()) and float(array.min(initial=0)) >= 0
        top = float(array.max(initial=0))
        kind = next((k for k, bits in (("u1", 8), ("u2", 16), ("u4", 32)) if top < 2**bits), "f4")
        self._add(name, kind if whole else "f4", array)

    def rounded(
        self, name: str, array: NDArray[Any], *, bits: Literal[8, 16], scale: Scale = "linear"
    ) -> None:
        r"""Add numbers as codes k of `bits` bits: low + step k, or its exponential.

        A logarithmic array keeps 0 and infinity exactly and takes no negative numbers.
        """
        codes, low, step = _codes(np.asarray(array, dtype=np.float64).ravel(), bits, scale)
        self._add(name, "u1" if bits == 8 else "u2", codes, low=low, step=step, scale=scale)  # noqa: PLR2004

    def drop(self, *names: str) -> bool:
        """Leave arrays out again; whether there was any of them."""
        found = [name for name in names if name in self.arrays]
        for name in found:
            del self.arrays[name], self._parts[name]
        return bool(found)

    def text(self) -> str:
        """Everything as base64 of a gzip file: length of the head, head as JSON, arrays."""
        at = 0
        for name, part in self._parts.items():
            self.arrays[name]["offset"] = at
            at += len(part)
        head = msgspec.json.encode({"values": self.values, "arrays": self.arrays})
        head += b" " * (-(len(head) + 4) % 8)
        raw = len(head).to_bytes(4, "little") + head + b"".join(self._parts.values())
        return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode()

    def _add(self, name: str, kind: str, array: NDArray[Any], **more: Any) -> None:
        data = np.ascontiguousarray(array, dtype=np.dtype(_TYPES[kind]).newbyteorder("<")).tobytes()
        self.arrays[name] = {"type": kind, "length": array.size, **more}
        self._parts[name] = data + b"\0" * (-len(data) % 8)


def _codes(array: NDArray[Any], bits: int, scale: Scale) -> tuple[NDArray[Any], float, float]:
    """Codes (n,), and the low end and step that turn them into numbers again."""
    top = 2**bits - 1
    if scale == "linear":
        low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
        step = (high - low) / top or 1.0
        return np.round((array - low) / step), low, step
    usual = (array > 0) & np.isfinite(array)
    logs = np.log(array, where=usual, out=np.zeros_like(array))
    low, high = (float(logs[usual].min()), float(logs[usual].max())) if usual.any() else (0.0, 0.0)
    step = (high - low) / (top - _RESERVED) or 1.0
    codes = np.round((logs - low) / step)
    return np.where(usual, codes, np.where(array == math.inf, top, top - 1)), low, step
