"""Operators that reduce axes or search along one: SUM, MEAN, REDUCE_..., CUMSUM, ARG_MAX, ARG_MIN, TOPK_V2."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Activation, Case, Integers, cases, exact
from fixed_point import multiply
from tflite_file import Op, Quantization, Tensor, build

X8 = Quantization.tensor(0.0235, -11)
U8 = Quantization.tensor(0.0235, 117)
X16 = Quantization.tensor(0.000431, 0)


def all_cases():
    yield from reduce_cases()
    yield from wide_cases()
    yield from exact_cases()
    yield sum_that_rounds_twice()
    yield from cumulative_cases()
    yield from arg_cases()
    yield from top_k_cases()


def reducer(name, keep=False, version=2):
    options = schema.ReducerOptionsT()
    options.keepDims = keep
    return Op(name, options, version)


AXES = {
    "last_axis": ((3, 17), [-1], False),
    "first_axis": ((5, 3, 4), [0], True),
    "image": ((2, 3, 5, 9), [1, 2], False),
    "all": ((2, 3, 4), [0, 1, 2], False),
    "every_second_axis": ((2, 3, 2, 2, 3), [1, 3], True),
}


def reduce_cases():
    for operator in "SUM", "REDUCE_MAX", "REDUCE_MIN":
        for name, (shape, axes, keep) in AXES.items():
            output = None if operator == "SUM" else "same"
            operands = [Activation(shape, X8), Integers(axes, "axes")]
            yield from cases(name, f"{shape} over {axes}", reducer(operator, keep), operands, output=output)
    eight = (2, 3, 2, 1, 2, 3, 2, 2), [0, 2, 5, 7]
    for operator in "MEAN", "SUM":
        operands = [Activation(eight[0], X8), Integers(eight[1], "axes")]
        what = f"{eight[0]} over {eight[1]}"
        yield from cases("eight_axes", what, reducer(operator), operands)
    # TensorFlow Lite Micro has no REDUCE_PROD; int8 is that of LiteRT.
    for name, shape, axes in (
        ("two", (9, 2), [1]),
        ("three", (3, 5), [0]),
        ("four", (2, 2, 2, 2), [1, 2]),
        ("one", (7, 1), [1]),
    ):
        operands = [Activation(shape, Quantization.tensor(0.0119, 5)), Integers(axes, "axes")]
        yield from cases(name, f"{shape} over {axes}", reducer("REDUCE_PROD"), operands, engine="litert")


def wide_cases():
    """int16; TensorFlow Lite Micro sums in 32 bits."""
    for operator, scale in ("MEAN", 0.0004), ("SUM", 0.0021):
        for name, (shape, axes, keep) in AXES.items():
            rng = np.random.default_rng(len(name))
            x = rng.integers(-32768, 32768, shape, np.int16)
            y = np.zeros(x.sum(axis=tuple(axes), keepdims=keep).shape)
            extremes = rng.choice(np.array([-32768, 32767], np.int16), shape)
            yield case(
                f"{operator.lower()}_i16_{name}",
                f"{shape} over {axes}",
                reducer(operator, keep),
                [Tensor("x", shape, np.int16, X16), integers(axes)],
                [Tensor("y", y.shape, np.int16, Quantization.tensor(scale, 0))],
                [[x], [extremes]],
            )


def exact_cases():
    x = np.random.default_rng(5).integers(-(1 << 20), 1 << 20, (2, 3, 4, 5), np.int32)
    x[0, 0, 0] = [-(1 << 31), (1 << 31) - 1, -1, 1, 0]
    for operator in "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN":
        for name, axes in ("last_axis", [3]), ("outer_axes", [0, 2]):
            yield exact(name, reducer(operator), [x], constants={1: np.array(axes, np.int32)})
    truth = np.array([[[0, 0], [0, 1]], [[1, 1], [0, 0]], [[1, 1], [1, 1]]], bool)
    for operator in "REDUCE_ANY", "REDUCE_ALL":
        for name, axes in ("last_axis", [2]), ("inner_axes", [1, 2]), ("first_axis", [0]):
            yield exact(name, reducer(operator, version=1), [truth], constants={1: np.array(axes, np.int32)})
    special = np.array([[np.nan, 1, 2], [1, np.nan, -2], [np.inf, 0, -np.inf]], np.float32)
    for operator in "REDUCE_MAX", "REDUCE_MIN":
        yield exact("no_numbers", reducer(operator), [special], constants={1: np.array([1], np.int32)})


def sum_that_rounds_twice():
    """Known fault L4: exactly 26.18 and 33.45; LiteRT's reference does not scale at all."""
    x = np.array([33, 11, 15, 111, -57, 80, 43, -128], np.int8).reshape(1, 2, 2, 2)
    return case(
        "fault_l4_sum_rescales",
        "26.18 and 33.45, rounded twice",
        reducer("SUM"),
        [Tensor("x", x.shape, np.int8, Quantization.tensor(0.02, 0)), integers([1, 2])],
        [Tensor("y", (1, 2), np.int8, Quantization.tensor(0.11, 20))],
        [[x]],
        known=[26, 34],
    )


def cumulative(exclusive=False, reverse=False):
    options = schema.CumsumOptionsT()
    options.exclusive, options.reverse = exclusive, reverse
    return Op("CUMSUM", options)


def cumulative_cases():
    centred, wide = Quantization.tensor(0.0235, 0), Quantization.tensor(0.11, -20)
    for name, shape, axis, exclusive, reverse in (
        ("last_axis", (3, 7), 1, False, False),
        ("middle_axis", (2, 4, 3), 1, True, False),
        ("first_axis_reverse", (5, 2), -2, False, True),
        ("both", (2, 6), 1, True, True),
    ):
        op, operands = cumulative(exclusive, reverse), [Activation(shape, centred), Integers(axis, "axis")]
        yield from cases(name, f"{shape} along {axis}", op, operands, output="same")
        yield from cases(f"{name}_coarser", f"{shape} along {axis}", op, operands, output=wide, kinds=("i8",))
        yield cumulative_from_zero(name, op, shape, axis, X8, wide)
        x = np.random.default_rng(3).integers(-(1 << 30), 1 << 30, shape, np.int32)
        yield exact(name, op, [x], constants={1: np.int32(axis)})


def cumulative_from_zero(name, op, shape, axis, before, after):
    """TensorFlow Lite Micro starts its sum at minus the zero point: here it starts at 0."""
    x = np.random.default_rng(7).integers(-128, 128, shape, np.int8)
    (x_scale,), (y_scale,) = before.scale, after.scale
    twice = 2 * max(x_scale, y_scale)
    scaled = multiply((x.astype(np.int64) - before.zero_point[0]) << 20, x_scale / twice)
    if op.options.reverse:
        scaled = np.flip(scaled, axis)
    sums = np.cumsum(scaled, axis)
    if op.options.exclusive:
        sums -= scaled
    if op.options.reverse:
        sums = np.flip(sums, axis)
    y = np.clip(multiply(sums, twice / (2**20 * y_scale)) + after.zero_point[0], -128, 127)
    return case(
        f"cumsum_i8_{name}_zero_point",
        f"{shape} along {axis}",
        op,
        [Tensor("x", shape, np.int8, before), integers(axis)],
        [Tensor("y", shape, np.int8, after)],
        [[x]],
        expected=[[y.astype(np.int8)]],
        expected_from="sums of tflite-micro's fixed-point terms that start at 0",
    )


def arg_cases():
    rng = np.random.default_rng(9)
    for operator, kind in ("ARG_MAX", schema.ArgMaxOptionsT), ("ARG_MIN", schema.ArgMinOptionsT):
        for name, shape, axis in ("last_axis", (4, 9), -1), ("middle_axis", (2, 5, 3), 1), ("first_axis", (6,), 0):
            # Few values, so that some are equal.
            x = rng.integers(-3, 4, shape)
            for label, dtype, quantization, result in (
                ("f32", np.float32, None, np.int32),
                ("i8", np.int8, X8, np.int32),
                ("u8", np.uint8, U8, np.int32),
                ("i32", np.int32, None, np.int32),
                ("f32_long", np.float32, None, np.int64),
                ("i8_long", np.int8, X8, np.int64),
                ("u8_long", np.uint8, U8, np.int64),
                ("i32_long", np.int32, None, np.int64),
            ):
                if label.endswith("long") and name != "middle_axis":
                    continue
                options = kind()
                options.outputType = schema.TensorType.INT64 if result is np.int64 else schema.TensorType.INT32
                micro = result is np.int32 and dtype in (np.float32, np.int8)
                values = (x + 117 if dtype is np.uint8 else x).astype(dtype)
                yield case(
                    f"{operator.lower()}_{label}_{name}",
                    f"{shape} along {axis}",
                    Op(operator, options, 2),
                    [Tensor("x", shape, dtype, quantization), integers(axis)],
                    [Tensor("y", np.argmax(x, axis).shape, result)],
                    [[values]],
                    engine="micro" if micro else "litert",
                )


def top_k_cases():
    rng = np.random.default_rng(11)
    for name, shape, k in ("rows", (3, 11), 4), ("all", (2, 2, 5), 5), ("one", (7,), 1):
        x = rng.integers(-4, 5, shape)
        for label, dtype, quantization in (
            ("f32", np.float32, None),
            ("i8", np.int8, X8),
            ("u8", np.uint8, U8),
            ("i32", np.int32, None),
        ):
            values = (x + 117 if dtype is np.uint8 else x).astype(dtype)
            result = (*shape[:-1], k)
            yield case(
                f"topk_v2_{label}_{name}",
                f"{k} of {shape}",
                Op("TOPK_V2", schema.TopKV2OptionsT(), 2),
                [Tensor("x", shape, dtype, quantization), integers(k)],
                [Tensor("values", result, dtype, quantization), Tensor("indices", result, np.int32)],
                [[values]],
                engine="litert",
            )


def integers(values, name="parameters"):
    array = np.array(values, np.int32)
    return Tensor(name, array.shape, np.int32, None, array)


def case(name, what, op, operands, results, sets, **extra):
    """A case whose inputs are the operands without data."""
    return Case(
        name=name,
        what=f"{op.name.lower()} {what}",
        model=build(op, operands, results),
        inputs=[meta(tensor) for tensor in operands if tensor.data is None],
        outputs=[meta(tensor) for tensor in results],
        sets=sets,
        **extra,
    )


def meta(tensor):
    """The entry of meta.json for a tensor."""
    kind = np.dtype(tensor.dtype).name.upper()
    quantization = tensor.quantization
    pair = () if quantization is None else (quantization.scale[0], quantization.zero_point[0])
    return meta_tensor(tensor.name, tensor.shape, kind, *pair)
