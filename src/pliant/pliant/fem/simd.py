"""One vector instruction sequence that numba cannot be talked into: a register tile of a product."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

TILE = 8
"""Rows that a register tile covers; the column strides of what it reads are multiples of it."""

COLUMNS = 3
"""Columns that a register tile covers."""


def _tile_product(typingctx, a, row, stride, depth, b, first, deep, wide, out, target, out_stride):
    """out[target + j out_stride + i] = sum over d < depth of a[row + d stride + i] b[first + d deep + j wide].

    For i < TILE and j < COLUMNS; all arrays are flat float64, all other arguments int64. The
    sums stay in vector registers: the factorisation and the solves spend their time here. No
    index is checked.
    """
    arrays = types.Array(types.float64, 1, "C")
    signature = types.void(
        arrays, types.int64, types.int64, types.int64, arrays, *(types.int64,) * 3, arrays, types.int64, types.int64
    )

    def codegen(context, builder, signature, args):
        a, row, stride, depth, b, first, deep, wide, out, target, out_stride = args
        a_data, b_data, out_data = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 4, 8)
        )
        vector = ir.VectorType(ir.DoubleType(), TILE)
        zero = ir.Constant(vector, [0.0] * TILE)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), TILE), [0] * TILE)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(COLUMNS)]
        with cgutils.for_range(builder, depth) as loop:
            d = loop.index
            at = builder.add(row, builder.mul(d, stride))
            column = builder.bitcast(builder.gep(a_data, [at]), vector.as_pointer())
            x = builder.load(column, align=8)
            for j in range(COLUMNS):
                at = builder.add(builder.add(first, builder.mul(d, deep)), builder.mul(ir.Constant(d.type, j), wide))
                scalar = builder.insert_element(zero, builder.load(builder.gep(b_data, [at])), ir.IntType(32)(0))
                spread = builder.shuffle_vector(scalar, zero, lanes)
                product = builder.fmul(x, spread, flags=["contract"])
                builder.store(builder.fadd(builder.load(sums[j]), product, flags=["contract"]), sums[j])
        for j in range(COLUMNS):
            at = builder.add(target, builder.mul(ir.Constant(target.type, j), out_stride))
            pointer = builder.bitcast(builder.gep(out_data, [at]), vector.as_pointer())
            builder.store(builder.load(sums[j]), pointer, align=8)
        return context.get_dummy_value()

    return signature, codegen


tile_product: Any = intrinsic(_tile_product)
