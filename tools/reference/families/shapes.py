"""Shapes that are open, or that the model computes.

The expected values are those of a file with the same operators and fixed shapes.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case, int8_meta
from engines import LITERT_REFERENCE, TFLITE_MICRO, run_litert_reference, run_tflite_micro
from families.convolution import window_options
from tflite_file import Op, Quantization, Tensor, build_graph

BATCH = 3


def all_cases():
    yield flatten()
    yield convolution()
    yield from ranges()
    yield two_open_axes()


def flatten():
    """As converters write it: the new shape is made of the old one's first extent."""

    def model(axes):
        x = Tensor("x", (BATCH, 2, 5), np.float32, open=axes)
        shape, first = Tensor("shape", (3,), np.int32), Tensor("first", (), np.int32)
        target, y = Tensor("target", (2,), np.int32), Tensor("y", (BATCH, 10), np.float32, open=axes)
        begin, end, step = (constant(name, [value]) for name, value in (("begin", 0), ("end", 1), ("step", 1)))
        slicing = schema.StridedSliceOptionsT()
        slicing.shrinkAxisMask = 1
        packing = schema.PackOptionsT()
        packing.valuesCount = 2
        measuring = schema.ShapeOptionsT()
        measuring.outType = schema.TensorType.INT32
        return build_graph(
            [
                (Op("SHAPE", measuring), [x], [shape]),
                (Op("STRIDED_SLICE", slicing), [shape, begin, end, step], [first]),
                (Op("PACK", packing), [first, constant("rest", 10)], [target]),
                (Op("RESHAPE", schema.ReshapeOptionsT()), [x, target], [y]),
            ]
        )

    x = np.random.default_rng(1).normal(size=(BATCH, 2, 5)).astype(np.float32)
    return Case(
        name="shape_f32_flatten_open_batch",
        what=f"flattens [-1, 2, 5] with batch {BATCH}",
        model=model((0,)),
        inputs=[meta_tensor("x", x.shape, "FLOAT32")],
        outputs=[meta_tensor("y", (BATCH, 10), "FLOAT32")],
        sets=[[x]],
        expected=run_litert_reference(model(()), [[x]]),
        expected_from=LITERT_REFERENCE,
        config={"batch": BATCH},
    )


def convolution():
    x_scale, y_scale = Quantization.tensor(0.02, 3), Quantization.tensor(0.05, -7)
    rng = np.random.default_rng(2)
    weights = rng.integers(-127, 128, (4, 2, 2, 3), np.int8)
    scales = Quantization.channels((0.01, 0.02, 0.005, 0.03), 0)

    def model(axes):
        x = Tensor("x", (BATCH, 4, 5, 3), np.int8, x_scale, open=axes)
        y = Tensor("y", (BATCH, 4, 5, 4), np.int8, y_scale, open=axes)
        bias_scales = Quantization.channels([0.02 * scale for scale in scales.scale], 0)
        bias = Tensor("bias", (4,), np.int32, bias_scales, np.array([100, -200, 50, 7], np.int32))
        options = schema.Conv2DOptionsT()
        window_options(options, (1, 1), (1, 1), "same", "none")
        operands = [x, Tensor("weights", weights.shape, np.int8, scales, weights), bias]
        return build_graph([(Op("CONV_2D", options, 3), operands, [y])])

    x = rng.integers(-128, 128, (BATCH, 4, 5, 3), np.int8)
    return Case(
        name="conv_2d_i8_open_batch",
        what=f"conv_2d int8 of [-1, 4, 5, 3] with batch {BATCH}",
        model=model((0,)),
        inputs=[int8_meta("x", x.shape, x_scale)],
        outputs=[int8_meta("y", (BATCH, 4, 5, 4), y_scale)],
        sets=[[x]],
        expected=run_tflite_micro(model(()), [[x]]),
        expected_from=TFLITE_MICRO,
        config={"batch": BATCH},
    )


def two_open_axes():
    def model(axes):
        x, y = (Tensor(name, (2, 3, 4), np.float32, open=axes) for name in "xy")
        return build_graph([(Op("RELU"), [x], [y])])

    x = np.random.default_rng(3).normal(size=(2, 3, 4)).astype(np.float32)
    return Case(
        name="relu_f32_two_open_axes",
        what="relu of [-1, -1, 4]",
        model=model((0, 1)),
        inputs=[meta_tensor("x", x.shape, "FLOAT32")],
        outputs=[meta_tensor("y", x.shape, "FLOAT32")],
        sets=[[x]],
        expected=run_litert_reference(model(()), [[x]]),
        expected_from=LITERT_REFERENCE,
        config={"shapes": [[2, 3, 4]]},
    )


def ranges():
    """`x` plus a range, so that the range is no output by itself."""
    for name, dtype, operands, length in (
        ("i32_down", np.int32, (7, -4, -3), 4),
        ("f32_tenths", np.float32, (0.0, 2.35, 0.1), 24),
        ("f32_down", np.float32, (1.0, -1.0, -0.3), 7),
    ):
        x, made = Tensor("x", (length,), dtype), Tensor("range", (length,), dtype)
        y = Tensor("y", (length,), dtype)
        adding = schema.AddOptionsT()
        adding.potScaleInt16 = False
        ends = [Tensor(end, (), dtype, None, np.array(value, dtype)) for end, value in zip("abc", operands, strict=True)]
        model = build_graph(
            [(Op("RANGE", schema.RangeOptionsT()), ends, [made]), (Op("ADD", adding), [x, made], [y])]
        )
        values = np.random.default_rng(4).integers(-9, 10, length).astype(dtype)
        kind = np.dtype(dtype).name.upper()
        yield Case(
            name=f"range_{name}",
            what=f"range {operands}",
            model=model,
            inputs=[meta_tensor("x", (length,), kind)],
            outputs=[meta_tensor("y", (length,), kind)],
            sets=[[values]],
            engine="litert",
        )


def constant(name, value):
    array = np.array(value, np.int32)
    return Tensor(name, array.shape, np.int32, None, array)
