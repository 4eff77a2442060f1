"""Operators that look up by indices: GATHER_ND, ONE_HOT, EMBEDDING_LOOKUP."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Integers, cases, exact
from families.reductions import U8, X8, case
from tflite_file import Op, Quantization, Tensor


def all_cases():
    yield from gather_nd_cases()
    yield from one_hot_cases()
    yield from embedding_cases()


def gather_nd_cases():
    op = Op("GATHER_ND", schema.GatherNdOptionsT(), 2)
    shape = (3, 4, 2)
    for name, indices in (
        ("elements", [[0, 3, 1], [2, 0, 0], [1, 1, 1]]),
        ("rows", [[[1, 2], [0, 0]], [[2, 3], [1, 2]]]),
        ("matrices", [[2], [0]]),
        ("one_row", [2, 1]),
    ):
        operands = [Activation(shape, X8), Integers(indices, "indices")]
        yield from cases(name, f"{shape} by {indices}", op, operands, output="same")
    indices = np.array([[1, 2], [0, 0], [2, 3]], np.int32)
    x = np.arange(24).reshape(shape)
    for dtype in np.float32, np.int16, np.int32, np.int64, np.bool_:
        yield exact("indices_of_the_run", op, [x.astype(dtype), indices], what=f"{shape} by indices of the run")
    yield case(
        "gather_nd_i8_indices_of_the_run",
        f"{shape} by indices of the run",
        op,
        [Tensor("x", shape, np.int8, X8), Tensor("indices", indices.shape, np.int32)],
        [Tensor("y", (3, 2), np.int8, X8)],
        [[x.astype(np.int8), indices]],
    )
    yield case(
        "gather_nd_u8_indices_of_the_run",
        f"{shape} by indices of the run",
        op,
        [Tensor("x", shape, np.uint8, U8), Tensor("indices", indices.shape, np.int32)],
        [Tensor("y", (3, 2), np.uint8, U8)],
        [[(x * 10).astype(np.uint8), indices]],
        engine="litert",
    )


def one_hot_cases():
    # Indices outside of the depth set nothing.
    indices = np.array([[0, 2], [-1, 3], [5, 1]], np.int32)
    for axis in -1, 0, 1:
        options = schema.OneHotOptionsT()
        options.axis = axis
        op, name = Op("ONE_HOT", options), {-1: "last_axis", 0: "first_axis", 1: "middle_axis"}[axis]
        for label, dtype, (on, off) in (
            ("f32", np.float32, (2.5, -0.5)),
            ("i8", np.int8, (100, -100)),
            ("i32", np.int32, (1 << 20, -7)),
            ("i64", np.int64, (1 << 40, -7)),
            ("bool", np.bool_, (True, False)),
        ):
            if axis == 0 and label not in ("f32", "bool"):
                continue
            constants = {1: np.int32(4), 2: np.asarray(on, dtype), 3: np.asarray(off, dtype)}
            yield exact(f"{label}_{name}", op, [indices], constants=constants, y=dtype)
    options = schema.OneHotOptionsT()
    options.axis = -1
    long = np.array([5, 1, -1], np.int64)
    constants = {1: np.int32(3), 2: np.float32(1), 3: np.float32(0)}
    yield exact("f32_long_indices", Op("ONE_HOT", options), [long], constants=constants, y=np.float32)
    # The values are operands like others.
    values = [np.array([2, 0], np.int32), np.float32(3), np.float32(4)]
    yield exact("values_of_the_run", Op("ONE_HOT", options), values, constants={1: np.int32(3)}, y=np.float32)
    quantized = [Tensor(name, (), np.int8, X8) for name in ("on", "off")]
    depth = Tensor("depth", (), np.int32, None, np.array(3, np.int32))
    yield case(
        "one_hot_i8_quantized",
        "of int8 values with a scale",
        Op("ONE_HOT", options),
        [Tensor("x", (2,), np.int32), depth, *quantized],
        [Tensor("y", (2, 3), np.int8, X8)],
        [[np.array([2, 0], np.int32), np.int8(77), np.int8(-11)]],
        engine="litert",
    )


def embedding_cases():
    op = Op("EMBEDDING_LOOKUP", None, 3)
    rng = np.random.default_rng(13)
    table = rng.integers(-127, 128, (6, 5), np.int8)
    indices = np.array([5, 0, 2, 2], np.int32)
    rows = Quantization.channels([0.1, 0.02, 0.3, 0.04, 0.5, 0.06], 0)
    for name, data, quantization, result, output, engine in (
        ("f32", table.astype(np.float32), None, np.float32, None, "micro"),
        ("i8", table, X8, np.int8, X8, "micro"),
        ("i8_to_f32", table, Quantization.tensor(0.037, 0), np.float32, None, "micro"),
        # TensorFlow Lite Micro takes the first row's scale for all.
        ("i8_to_f32_by_row", table, rows, np.float32, None, "litert"),
    ):
        yield case(
            f"embedding_lookup_{name}",
            f"{len(indices)} rows of {list(table.shape)}",
            op,
            [Tensor("x", indices.shape, np.int32), Tensor("table", table.shape, data.dtype, quantization, data)],
            [Tensor("y", (4, 5), result, output)],
            [[indices]],
            engine=engine,
        )
    images = rng.normal(0, 1, (4, 2, 3)).astype(np.float32)
    yield exact("of_matrices", op, [np.array([3, 1], np.int32), images], y=np.float32, shape=(2, 2, 3))
