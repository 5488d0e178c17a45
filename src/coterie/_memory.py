"""Numbers found by their address, for compiled code that reads many arrays; a hint to fetch them early.

Takes: float64 arrays; in compiled code, the address where one begins and a position.
Gives: `addresses`; `number`, the number there; `prefetch`, which gives nothing: its cache line is on its
way, whatever lies there.
Next: `logs`, `statistics`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray


def addresses(arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
    """Where the numbers of each array begin; compiled code has no list of arrays that costs nothing.

    >>> len(addresses([np.zeros(3), np.zeros((2, 2))]))
    2
    """
    if not all(array.dtype == np.float64 and array.flags.c_contiguous for array in arrays):
        raise TypeError("compiled code reads float64 numbers that lie end to end")
    return np.array([array.ctypes.data for array in arrays], dtype=np.int64)


def _place(builder: Any, arguments: Any) -> Any:
    """Pointer to a position behind an address."""
    start = builder.inttoptr(arguments[0], ir.DoubleType().as_pointer())
    return builder.gep(start, [arguments[1]])


def _number(_context: Any, _address: Any, _at: Any) -> Any:
    """Number at a position behind an address."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(_place(builder, arguments))

    return types.float64(types.int64, types.int64), generate


def _prefetch(_context: Any, _address: Any, _at: Any) -> Any:
    """Fetch the cache line of a position behind an address; it may be nobody's."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        bytes_ = ir.IntType(8).as_pointer()
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [bytes_], ir.FunctionType(ir.VoidType(), [bytes_, *[ir.IntType(32)] * 3])
        )
        for_reading, keep, data = (ir.Constant(ir.IntType(32), value) for value in (0, 3, 1))
        place = builder.bitcast(_place(builder, arguments), bytes_)
        builder.call(hint, [place, for_reading, keep, data])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


number: Any = intrinsic(_number)
prefetch: Any = intrinsic(_prefetch)
