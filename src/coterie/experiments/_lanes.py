"""Inner products and triangular solves for candidates side by side, eight in one vector register.

Written as vector instructions because the compiler does not keep all rows of a solve in registers of its
own accord; measured, that makes a solve three to four times as fast. `_plain.ask` is the twin.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 8
_REAL, _INT, _SMALL = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_REAL, LANES)
_FUSED = ("contract",)


def _inner(context: Any, vector: Any, columns: Any, out: Any, dim: Any) -> Any:  # noqa: ARG001
    """Write the inner products of `vector` (d,) with `columns` (d, K) into `out` (K,); K = 8, 16, ..."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (at, lanes, to), width = _arrays(context, builder, signature, arguments)
        with _chunks(builder, width) as (k, _):
            total = ir.Constant(_VECTOR, [0.0] * LANES)
            for j in range(dim.literal_value):
                column = _load(builder, lanes, builder.add(builder.mul(width, _INT(j)), k))
                scaled = builder.fmul(_splat(builder, at, j), column, flags=_FUSED)
                total = builder.fadd(total, scaled, flags=_FUSED)
            _store(builder, to, k, total)
        return context.get_dummy_value()

    return types.void(vector, columns, out, dim), build


def _squares(context: Any, factor: Any, columns: Any, out: Any, dim: Any) -> Any:  # noqa: ARG001
    """Write |L^-1 a|^2 of each column a of `columns` (d, K) into `out` (K,); K = 8, 16, ...

    `factor` is the packed triangle L with the reciprocals of its diagonal in their place.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (low, lanes, to), width = _arrays(context, builder, signature, arguments)
        d = dim.literal_value
        with _chunks(builder, width) as (k, _):
            left = [_load(builder, lanes, builder.add(builder.mul(width, _INT(j)), k)) for j in range(d)]
            total = ir.Constant(_VECTOR, [0.0] * LANES)
            for j in range(d):
                z = builder.fmul(left[j], _splat(builder, low, j * (j + 1) // 2 + j))
                total = builder.fadd(total, builder.fmul(z, z, flags=_FUSED), flags=_FUSED)
                for i in range(j + 1, d):
                    scaled = builder.fmul(_splat(builder, low, i * (i + 1) // 2 + j), z, flags=_FUSED)
                    left[i] = builder.fsub(left[i], scaled, flags=_FUSED)
            _store(builder, to, k, total)
        return context.get_dummy_value()

    return types.void(factor, columns, out, dim), build


inner: Any = intrinsic(prefer_literal=True)(_inner)
squares: Any = intrinsic(prefer_literal=True)(_squares)


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any) -> tuple[list[Any], Any]:
    """Addresses of the first three arguments, and how many columns the second one has."""
    arrays = [
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
    ]
    return [array.data for array in arrays], builder.extract_value(arrays[1].shape, 1)


def _chunks(builder: Any, width: Any) -> Any:
    """Loop over 0, 8, 16, ... below `width`; gives that number and numba's count of the turns."""
    return cgutils.for_range_slice(builder, _INT(0), width, _INT(LANES), intp=_INT)


def _splat(builder: Any, base: Any, at: int) -> Any:
    """The number at this place in all lanes."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, builder.load(builder.gep(base, [_INT(at)])), _SMALL(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_SMALL, LANES), [0] * LANES))


def _load(builder: Any, base: Any, at: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(base, [at]), _VECTOR.as_pointer()), align=8)


def _store(builder: Any, base: Any, at: Any, value: Any) -> None:
    builder.store(value, builder.bitcast(builder.gep(base, [at]), _VECTOR.as_pointer()), align=8)
