"""int32 and int64 that stand for themselves, in the arithmetic of shapes and indices."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import exact
from tflite_file import Op


def all_cases():
    yield from two_operands()
    yield from one_operand()
    yield from moved()


def moved():
    """Elements of every type, by indices of either type."""
    for dtype, index in (
        (np.uint8, np.int64),
        (np.int16, np.int64),
        (np.int32, np.int64),
        (np.int64, np.int32),
        (np.int64, np.int64),
        (np.bool_, np.int32),
    ):
        x = np.arange(12).reshape(4, 3).astype(dtype)
        options, width = schema.GatherOptionsT(), np.dtype(index).itemsize * 8
        indices = {1: np.array([3, 0, 1, 0, 2, 2], index)}
        yield exact(f"rows_by_{width}_bits", Op("GATHER", options, 2), [x], constants=indices)
    condition = np.array([[True, False, True], [False, False, True]])
    a = np.arange(6, dtype=np.uint8).reshape(2, 3)
    yield exact("rows_u8", Op("SELECT_V2", schema.SelectV2OptionsT()), [condition, a, a[:1] + 100], y=np.uint8)


def two_operands():
    a = np.array([7, -7, 7, -7, 6, 1 << 40, 0, 1], np.int64).reshape(2, 4)
    b = np.array([2, 2, -2, -2, 3, 7, 5, -3], np.int64).reshape(2, 4)
    kinds = {
        "ADD": schema.AddOptionsT,
        "SUB": schema.SubOptionsT,
        "MUL": schema.MulOptionsT,
        "MINIMUM": schema.MaximumMinimumOptionsT,
        "MAXIMUM": schema.MaximumMinimumOptionsT,
        "FLOOR_MOD": schema.FloorModOptionsT,
    }
    for name, kind in kinds.items():
        yield exact("integers", Op(name, kind()), [a, b])
        yield exact("scalar", Op(name, kind()), [a], constants={1: np.int64(-5)})
    squared = Op("SQUARED_DIFFERENCE", schema.SquaredDifferenceOptionsT())
    small = np.array([7, -7, 0, 30_000], np.int32)
    yield exact("integers", squared, [small, small[::-1].copy()])


def one_operand():
    for dtype in np.int32, np.int64:
        x = np.array([-5, 0, 7, np.iinfo(dtype).max], dtype)
        yield exact("integers", Op("NEG", schema.NegOptionsT()), [x])
        if dtype == np.int32:
            yield exact("integers", Op("ABS", schema.AbsOptionsT()), [x])
