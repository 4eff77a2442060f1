"""Operators that look up by indices: EMBEDDING_LOOKUP, ONE_HOT."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import DTYPES, LITERT, MICRO, Model, extents, integers, operand, options, quantized, result, scale, values
from tflite_file import Op, Quantization, Tensor


def embedding_lookup(rng, row):
    shape = extents(rng, int(rng.integers(2, 4)))
    count, to_real = int(rng.integers(1, 12)), row[-1] == "f32"
    indices = Tensor("x", (count,), np.int32)
    q, engine = quantized(rng, np.int8), MICRO
    if to_real:
        q = Quantization.tensor(q.scale[0], 0)
        if rng.random() < 0.5:
            # TensorFlow Lite Micro takes the first row's scale for all.
            q, engine = Quantization.channels([scale(rng) for _ in range(shape[0])], 0), LITERT
    table = operand(rng, "table", shape, np.int8, q, constant=1.0)
    sets = [[rng.integers(0, shape[0], count).astype(np.int32)] for _ in range(4)]
    y = result((count, *shape[1:]), DTYPES[row[-1]], None if to_real else q)
    return Model(Op("EMBEDDING_LOOKUP", None, 3), [indices, table], [y], sets, engine)


def one_hot(rng, row):
    """Indices outside of the depth set nothing."""
    index, dtype = DTYPES[row[0]], DTYPES[row[-1]]
    shape = extents(rng, int(rng.integers(1, 4)), 30)
    depth, axis = int(rng.integers(1, 12)), int(rng.integers(len(shape) + 1))
    y = (*shape[:axis], depth, *shape[axis:])
    q = quantized(rng, dtype)
    pair = [operand(rng, name, (), dtype, q, constant=0.5) for name in ("on", "off")]
    op = Op("ONE_HOT", options(schema.OneHotOptionsT, axis=-1 if axis == len(shape) else axis))
    given = [tensor for tensor in pair if tensor.data is None]
    sets = [
        [rng.integers(-2, depth + 2, shape).astype(index), *(values(rng, (), dtype, q) for _ in given)]
        for _ in range(2)
    ]
    operands = [Tensor("x", shape, index), integers("depth", depth), *pair]
    return Model(op, operands, [result(y, dtype, q)], sets, LITERT)


DRAWS = {"EMBEDDING_LOOKUP": embedding_lookup, "ONE_HOT": one_hot}
