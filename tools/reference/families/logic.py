"""Comparisons, logical operators, SELECT, SELECT_V2 and CAST."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import Case, exact, int8_meta
from casefiles import tensor as meta_tensor
from families.elementwise import EVERY_INT8
from tflite_file import Op, Quantization, Tensor, build

COMPARISONS = {
    "EQUAL": schema.EqualOptionsT,
    "NOT_EQUAL": schema.NotEqualOptionsT,
    "LESS": schema.LessOptionsT,
    "LESS_EQUAL": schema.LessEqualOptionsT,
    "GREATER": schema.GreaterOptionsT,
    "GREATER_EQUAL": schema.GreaterEqualOptionsT,
}


def all_cases():
    yield from comparison_cases()
    yield from logical_cases()
    yield from select_cases()
    yield from cast_cases()


def comparison_cases():
    a = np.array([[1, 2, 3], [-1, 0, np.nan]], np.float32)
    b = np.array([[2, 2, 2], [-1, 1, 0]], np.float32)
    for name, kind in COMPARISONS.items():
        op = Op(name, kind())
        yield exact("same_shape", op, [a, b], y=bool)
        yield exact("row_and_column", op, [a[:, :1], b[:1]], y=bool)
        yield exact("scalar", op, [np.arange(-2, 3, dtype=np.int32)], constants={1: np.int32(0)}, y=bool)
        yield quantized(op, "unequal_scales", Quantization.tensor(0.05, -3), Quantization.tensor(0.04, 10))
        yield quantized(op, "fine_scales", Quantization.tensor(0.002, 0), Quantization.tensor(0.002, 0))
    long = np.array([1 << 40, -1, 0], np.int64)
    yield exact("long", Op("LESS", schema.LessOptionsT()), [long], constants={1: np.int64(0)}, y=bool)
    truth = np.array([True, False, True, False])
    yield exact("truth", Op("EQUAL", schema.EqualOptionsT()), [truth, truth[::-1].copy()], y=bool)


def quantized(op, name, a_quantization, b_quantization):
    """Every value, and others in the same order as another scale makes them."""
    a = np.array(EVERY_INT8, np.int8).reshape(2, 128)
    b = np.random.default_rng(3).permutation(np.array(EVERY_INT8, np.int8)).reshape(2, 128)
    b[0] = np.clip(a[0].astype(int) + np.arange(128) % 3 - 1, -128, 127)
    return Case(
        name=f"{op.name.lower()}_i8_{name}",
        what=f"{op.name.lower()} i8, scales {a_quantization.scale[0]:.4g} and {b_quantization.scale[0]:.4g}",
        model=build(
            Op(op.name, op.options, 2),
            [Tensor("x0", a.shape, np.int8, a_quantization), Tensor("x1", b.shape, np.int8, b_quantization)],
            [Tensor("y", a.shape, np.bool_)],
        ),
        inputs=[int8_meta("x0", a.shape, a_quantization), int8_meta("x1", b.shape, b_quantization)],
        outputs=[meta_tensor("y", a.shape, "BOOL")],
        sets=[[a, b]],
    )


def logical_cases():
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    yield exact("truth", Op("LOGICAL_AND", schema.LogicalAndOptionsT()), [a, b])
    yield exact("truth", Op("LOGICAL_OR", schema.LogicalOrOptionsT()), [a, b])
    yield exact("truth", Op("LOGICAL_NOT", schema.LogicalNotOptionsT()), [a])
    yield exact("row_and_column", Op("LOGICAL_AND", schema.LogicalAndOptionsT()), [a.reshape(4, 1), b])


def select_cases():
    condition = np.array([[True, False, True], [False, False, True]])
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    v1, v2 = Op("SELECT", schema.SelectOptionsT()), Op("SELECT_V2", schema.SelectV2OptionsT())
    for kind, dtype in ("f32", np.float32), ("i8", np.int8), ("i64", np.int64):
        a, b = np.arange(6).reshape(2, 3).astype(dtype), -np.arange(1, 7).reshape(2, 3).astype(dtype)
        yield exact(f"same_shape_{kind}", v1, [condition, a, b], y=dtype)
        yield exact(f"first_axis_{kind}", v1, [condition[:, 0], a, b], y=dtype)
        yield exact(f"same_shape_{kind}", v2, [condition, a, b], y=dtype)
        yield exact(f"rows_{kind}", v2, [condition[:, :1], a, b], y=dtype)
        yield exact(f"all_sides_{kind}", v2, [condition[:, :1], a[0], b[:1, :1]], y=dtype)
    yield exact("scalar_f32", v2, [condition, a.astype(np.float32)], constants={2: np.float32(7)}, y=np.float32)


def cast_cases():
    floats = np.array([-7.9, -1, -0.5, 0, 0.5, 1, 100.7], np.float32)
    sources = {
        "f32": floats,
        "i8": np.array([-128, -1, 0, 1, 127], np.int8),
        "i16": np.array([-300, -1, 0, 1, 127], np.int16),
        "i32": np.array([-70000, -1, 0, 1, 255], np.int32),
        "i64": np.array([-(1 << 40), -1, 0, 1, 255], np.int64),
        "bool": np.array([True, False]),
    }
    types = {"f32": np.float32, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "bool": np.bool_}
    known = {
        "f32": ("i8", "i16", "i32", "i64", "bool"),
        "i8": ("f32", "i16", "i32", "i64", "bool"),
        "i16": ("f32", "i8", "i32", "i64", "bool"),
        "i32": ("f32", "i8", "i16", "i64", "bool"),
        "i64": ("f32", "i8", "i16", "i32", "bool"),
        "bool": ("f32", "i8", "i16", "i32", "i64"),
    }
    for source, targets in known.items():
        for target in targets:
            yield exact(f"to_{target}", Op("CAST"), [sources[source]], y=types[target])
