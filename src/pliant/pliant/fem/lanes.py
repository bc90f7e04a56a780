"""Lanes: eight numbers that numba computes with at once, one for each of eight elements.

Numba vectorises inner loops only, and those of an element are short. Here the elements
themselves go side by side: kernels read like scalar ones and compute eight elements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numpy.typing import NDArray

LANES = 8
"""Elements computed at once."""


class LanesType(types.Type):
    """Numba's type of eight float64."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = LanesType()
_FLAT = types.Array(types.float64, 1, "C")
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: types.Type) -> None:
        super().__init__(manager, kind, _VECTOR)


def _register(operation: Callable[..., Any], instruction: str) -> None:
    """Let numba apply an operation to lanes and lanes, or lanes and a number."""

    operands = ((_LANES, _LANES), (_LANES, types.float64), (types.float64, _LANES))

    class Template(ConcreteTemplate):
        cases: ClassVar = [signature(_LANES, a, b) for a, b in operands]

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (v if kind == _LANES else _spread(builder, v) for v, kind in zip(args, sig.args, strict=True))
        return getattr(builder, instruction)(a, b, flags=["contract", "reassoc"])

    infer_global(operation)(Template)
    for a, b in operands:
        lower_builtin(operation, a, b)(lower)


def _spread(builder: Any, value: Any) -> Any:
    zero = ir.Constant(_VECTOR, None)
    first = builder.insert_element(zero, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, zero, _mask([0] * LANES))


def _mask(lanes: list[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.iadd, "fadd"),
    (operator.sub, "fsub"),
    (operator.isub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_operation, _instruction)


def _pointer(context: Any, builder: Any, array: Any, index: Any) -> Any:
    start = context.make_array(_FLAT)(context, builder, array).data
    return builder.bitcast(builder.gep(start, [index]), _VECTOR.as_pointer())


def _load_at(typingctx, array, index):
    """The lanes array[index : index + 8] of a flat float64 array. The index is not checked."""

    def codegen(context, builder, sig, args):
        return builder.load(_pointer(context, builder, *args), align=8)

    return _LANES(_FLAT, types.int64), codegen


def _store_at(typingctx, array, index, value):
    """array[index : index + 8] = lanes, of a flat float64 array. The index is not checked."""

    def codegen(context, builder, sig, args):
        builder.store(args[2], _pointer(context, builder, *args[:2]), align=8)
        return context.get_dummy_value()

    return types.void(_FLAT, types.int64, _LANES), codegen


def _lanes(typingctx, number):
    """Eight times the same number."""

    def codegen(context, builder, sig, args):
        return _spread(builder, args[0])

    return _LANES(types.float64), codegen


def _total(typingctx, value):
    """Sum of the eight numbers."""

    def codegen(context, builder, sig, args):
        value, n = args[0], LANES
        while n > 1:
            n //= 2
            halves = [list(range(start, start + n)) for start in (0, n)]
            low, high = (builder.shuffle_vector(value, value, _mask(half)) for half in halves)
            value = builder.fadd(low, high)
        return builder.extract_element(value, ir.IntType(32)(0))

    return types.float64(_LANES), codegen


def _transpose(typingctx, array, index):
    """Transpose the 8 x 8 matrix array[index : index + 64]. The index is not checked."""

    def codegen(context, builder, sig, args):
        start = args[1]
        at = [builder.add(start, ir.Constant(start.type, LANES * i)) for i in range(LANES)]
        pointers = [_pointer(context, builder, args[0], i) for i in at]
        rows = [builder.load(pointer, align=8) for pointer in pointers]
        for half in (1, 2, 4):
            low = [j + LANES - half if j & half else j for j in range(LANES)]
            high = [j + LANES if j & half else j + half for j in range(LANES)]
            for i in range(LANES):
                if not i & half:
                    a, b = rows[i], rows[i + half]
                    rows[i], rows[i + half] = (
                        builder.shuffle_vector(a, b, _mask(mix)) for mix in (low, high)
                    )
        for pointer, row in zip(pointers, rows, strict=True):
            builder.store(row, pointer, align=8)
        return context.get_dummy_value()

    return types.void(_FLAT, types.int64), codegen


load_at: Any = intrinsic(_load_at)
store_at: Any = intrinsic(_store_at)
lanes: Any = intrinsic(_lanes)
total: Any = intrinsic(_total)
transpose: Any = intrinsic(_transpose)


@njit(cache=True)
def load(array, index):
    """Lanes number `index` of a flat array of lanes."""
    return load_at(array, LANES * index)


@njit(cache=True)
def store(array, index, value):
    """Set lanes number `index` of a flat array of lanes."""
    store_at(array, LANES * index, value)


def side_by_side(per_element: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of elements, shape (n_elements, ...), as lanes, shape (n_batches, ..., 8), flattened.

    The last batch is filled up with the last element.
    """
    n_missing = -len(per_element) % LANES
    full = np.concatenate([per_element, np.repeat(per_element[-1:], n_missing, axis=0)])
    batches = full.reshape(-1, LANES, *per_element.shape[1:])
    return np.ascontiguousarray(np.moveaxis(batches, 1, -1)).ravel()
