"""The processor's hint to fetch memory that will be needed soon, for compiled code; it changes no result.

Takes: an array and a position.
Gives: nothing; the cache line is on its way.
Next: `_kernels`.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


def _prefetch(_context: Any, array: Any, at: Any) -> Any:  # noqa: ARG001
    """Fetch the cache line of position `at` of a one-dimensional array, which may lie outside it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        bytes_ = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(values.data, [arguments[1]]), bytes_)
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [bytes_], ir.FunctionType(ir.VoidType(), [bytes_, *[ir.IntType(32)] * 3])
        )
        for_reading, keep, data = (ir.Constant(ir.IntType(32), value) for value in (0, 3, 1))
        builder.call(hint, [address, for_reading, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
