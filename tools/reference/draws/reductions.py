"""Operators that reduce axes, order elements or add them up along an axis."""

import math

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import (
    DTYPES,
    LITERT,
    MICRO,
    Model,
    extents,
    integers,
    limits,
    near,
    options,
    quantized,
    result,
    scale,
    sets_of,
)
from fixed_point import multiply
from tflite_file import Op, Tensor


def reduced(rng, most_rank=4, most=None):
    """A shape, the axes to reduce, whether they are kept, and the result's shape.

    `most`: about as many elements are reduced to one, not more.
    """
    shape = extents(rng, int(rng.integers(1, most_rank + 1)), 500)
    count = int(rng.integers(1, len(shape) + 1))
    axes = sorted(int(axis) for axis in rng.choice(len(shape), count, replace=False))
    if most is not None:
        left = int(rng.integers(1, most + 1))
        for axis in axes:
            extent = min(shape[axis], left)
            shape, left = (*shape[:axis], extent, *shape[axis + 1 :]), left // extent
    keep = bool(rng.integers(2))
    y = [1 if axis in axes else extent for axis, extent in enumerate(shape) if keep or axis not in axes]
    return shape, axes, keep, y


def reduction(name, engine=MICRO, rescales=True, version=2, most=None):
    def draw(rng, row):
        dtype = DTYPES[row[0]]
        shape, axes, keep, y_shape = reduced(rng, most=most)
        count = math.prod(shape[axis] for axis in axes)
        x = quantized(rng, dtype)
        like = x.scale[0] * (math.sqrt(count) if name == "SUM" else 1 / math.sqrt(count))
        y = quantized(rng, dtype, near(rng, like, 2)) if rescales else x
        tensor = Tensor("x", shape, dtype, x)
        # Axes count from either end.
        stated = [axis - len(shape) if rng.random() < 0.3 else axis for axis in axes]
        op = Op(name, options(schema.ReducerOptionsT, keepDims=keep), version)
        operands = [tensor, integers("axes", stated)]
        engine_ = LITERT if "u8" in row else engine
        return Model(op, operands, [result(y_shape, dtype, y)], sets_of(rng, [tensor], 4), engine_)

    return draw


def extreme_index(name, kind):
    def draw(rng, row):
        dtype = DTYPES[row[0]]
        shape = extents(rng, int(rng.integers(1, 5)), 500)
        axis = int(rng.integers(len(shape)))
        stated = axis - len(shape) if rng.random() < 0.4 else axis
        y_type = DTYPES[row[-1]]
        fields = {"outputType": schema.TensorType.INT64 if y_type == np.int64 else schema.TensorType.INT32}
        tensor = Tensor("x", shape, dtype, quantized(rng, dtype))
        y = result(shape[:axis] + shape[axis + 1 :], y_type)
        # TensorFlow Lite Micro has int8 with 32-bit indices.
        engine = MICRO if row[0] == "i8" and y_type == np.int32 else LITERT
        op = Op(name, options(kind, **fields), 2)
        return Model(op, [tensor, integers("axis", stated)], [y], sets_of(rng, [tensor], 4), engine)

    return draw


def cumsum(rng, row):
    """Computed: tflite-micro starts its sum at minus the zero point, only right where that is 0."""
    dtype = DTYPES[row[0]]
    shape = extents(rng, int(rng.integers(1, 5)))
    axis = int(rng.integers(len(shape)))
    x = quantized(rng, dtype)
    y = quantized(rng, dtype, near(rng, x.scale[0] * 2, 2))
    tensor = Tensor("x", shape, dtype, x)
    fields = {"exclusive": bool(rng.integers(2)), "reverse": bool(rng.integers(2))}
    op = Op("CUMSUM", options(schema.CumsumOptionsT, **fields))
    model = Model(op, [tensor, integers("axis", axis)], [result(shape, dtype, y)], sets_of(rng, [tensor]), None)
    model.correct = lambda sets, _: [[cumulative(model, axis, array)] for (array,) in sets]
    return model


def cumulative(model, axis, array):
    """Sums of tflite-micro's fixed-point terms that start at 0, in 64 bits."""
    x, y, fields = model.operands[0].quantization, model.results[0].quantization, model.op.options
    (x_scale,), (y_scale,) = x.scale, y.scale
    twice = 2 * max(x_scale, y_scale)
    scaled = multiply((array.astype(np.int64) - x.zero_point[0]) << 20, x_scale / twice)
    if fields.reverse:
        scaled = np.flip(scaled, axis)
    sums = np.cumsum(scaled, axis)
    if fields.exclusive:
        sums -= scaled
    if fields.reverse:
        sums = np.flip(sums, axis)
    # Beyond 32 bits a sum is far beyond the limits, and `multiply` would overflow.
    sums = np.clip(sums, -(2**31), 2**31 - 1)
    sums = multiply(sums, twice / (2**20 * y_scale)) + y.zero_point[0]
    return np.clip(sums, *limits(array.dtype)).astype(array.dtype)


def top_k(rng, row):
    dtype = DTYPES[row[0]]
    shape = extents(rng, int(rng.integers(1, 4)))
    k = int(rng.integers(1, shape[-1] + 1))
    q = quantized(rng, dtype, scale(rng))
    tensor = Tensor("x", shape, dtype, q)
    y = (*shape[:-1], k)
    results = [result(y, dtype, q, "values"), result(y, np.int32, None, "indices")]
    op = Op("TOPK_V2", schema.TopKV2OptionsT(), 2)
    return Model(op, [tensor, integers("k", k)], results, sets_of(rng, [tensor]), LITERT)


DRAWS = {
    "ARG_MAX": extreme_index("ARG_MAX", schema.ArgMaxOptionsT),
    "ARG_MIN": extreme_index("ARG_MIN", schema.ArgMinOptionsT),
    "CUMSUM": cumsum,
    "MEAN": reduction("MEAN"),
    "REDUCE_MAX": reduction("REDUCE_MAX", rescales=False),
    "REDUCE_MIN": reduction("REDUCE_MIN", rescales=False),
    # Products of many elements could leave 32 bits, which we refuse.
    "REDUCE_PROD": reduction("REDUCE_PROD", LITERT, most=5),
    "SUM": reduction("SUM"),
    "TOPK_V2": top_k,
}
