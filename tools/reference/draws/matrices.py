"""Products of two activations, and images of another size."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import DTYPES, LITERT, MICRO, Model, integers, near, options, quantized, result, scale, sets_of
from tflite_file import Op, Tensor


def batch_matmul(rng, row):
    dtype = DTYPES[row[0]]
    rank = int(rng.integers(2, 5))
    rows, depth, columns = (int(n) for n in rng.integers(1, 12, 3))
    batch = tuple(int(n) for n in rng.integers(1, 4, rank - 2))
    adjoint = [bool(rng.integers(2)) for _ in range(2)]
    # A batch of one is repeated.
    batches = [tuple(1 if rng.random() < 0.2 else n for n in batch) for _ in range(2)]
    shapes = [(rows, depth), (depth, columns)]
    shapes = [
        (*batches[i], *(matrix[::-1] if adjoint[i] else matrix)) for i, matrix in enumerate(shapes)
    ]
    low, high = (-18, -8) if dtype == np.int16 else (-10, -2)
    scales = [scale(rng, low, high) for _ in range(2)]
    operands = [
        Tensor(f"x{i}", shape, dtype, quantized(rng, dtype, scale_))
        for i, (shape, scale_) in enumerate(zip(shapes, scales))
    ]
    span = np.iinfo(dtype).max
    y = quantized(rng, dtype, near(rng, scales[0] * scales[1] * span * 0.5 * np.sqrt(depth), 2.5))
    y_shape = (*np.broadcast_shapes(*batches), rows, columns)
    op = Op("BATCH_MATMUL", options(schema.BatchMatMulOptionsT, adjX=adjoint[0], adjY=adjoint[1]), 4)
    return Model(op, operands, [result(y_shape, dtype, y)], sets_of(rng, operands), MICRO)


def resize(name, kind):
    def draw(rng, row):
        dtype = DTYPES[row[0]]
        batch, height, width, depth = (int(n) for n in rng.integers(1, 9, 4))
        size = [int(n) for n in rng.integers(1, 15, 2)]
        # No runtime takes both.
        align, half = [(False, False), (True, False), (False, True)][int(rng.integers(3))]
        q = quantized(rng, dtype)
        x = Tensor("x", (batch % 3 + 1, height, width, depth), dtype, q)
        y = result((x.shape[0], *size, depth), dtype, q)
        # TensorFlow Lite Micro knows int8 alone, or int16 of neighbours.
        engine = MICRO if row[0] == "i8" or (row[0] == "i16" and "NEAREST" in name) else LITERT
        op = Op(name, options(kind, alignCorners=align, halfPixelCenters=half), 3)
        return Model(op, [x, integers("size", size)], [y], sets_of(rng, [x]), engine)

    return draw


DRAWS = {
    "BATCH_MATMUL": batch_matmul,
    "RESIZE_BILINEAR": resize("RESIZE_BILINEAR", schema.ResizeBilinearOptionsT),
    "RESIZE_NEAREST_NEIGHBOR": resize("RESIZE_NEAREST_NEIGHBOR", schema.ResizeNearestNeighborOptionsT),
}
