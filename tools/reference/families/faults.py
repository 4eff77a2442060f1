"""Small cases that real tools got wrong.

Each is built from its description, and the result is checked against the value
that is known to be right. The numbers (L1, L5a ...) are those of the team's list
of known faults.
"""

from dataclasses import replace

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import INT8_VERSIONS, Case, int8_meta
from families.elementwise import EVERY_INT8, relu6_by_rule
from tflite_file import Op, Quantization, Tensor, build


def all_cases():
    yield relu6_with_unequal_scales()
    yield fully_connected(
        "l5a_rounds_twice",
        "four accumulators that round differently once (-20 -18 -16 -14) and twice",
        x=[-79],
        x_quantization=Quantization.tensor(0.4, 0),
        weights=[[24]] * 4,
        weights_quantization=Quantization.tensor(1 / 37, 0),
        bias=[0, 185, 370, 555],
        y_quantization=Quantization.tensor(1.0, 0),
        known=[-21, -19, -17, -15],
    )
    yield fully_connected(
        "l5b_just_over_half",
        "exact result 6.50000047 steps: -119 in integers, -120 in float32 (a tie, rounded to even)",
        x=[117],
        x_quantization=Quantization.tensor(0.05296124517917633, 0),
        weights=[[5]],
        weights_quantization=Quantization.tensor(0.024093778803944588, 0),
        bias=[0],
        y_quantization=Quantization.tensor(0.11484327912330627, -126),
        known=[-119],
    )
    yield space_to_batch_of_zero_points()
    yield average_pool_of_a_batch()
    yield fully_connected(
        "l14_weight_zero_point",
        "weights with a zero point: 9, and 12 if it is ignored",
        x=[10, 10, 10],
        x_quantization=Quantization.tensor(0.1, 0),
        weights=[[10, 20, 30]],
        weights_quantization=Quantization.tensor(0.1, 5),
        bias=None,
        y_quantization=Quantization.tensor(0.5, 0),
        known=[9],
    )


def relu6_with_unequal_scales():
    before, after = Quantization.tensor(0.05, -3), Quantization.tensor(0.04, -20)
    x = np.array(EVERY_INT8, np.int8).reshape(1, 256)
    case = single(
        "l1_relu6_unequal_scales",
        "RELU6 must rescale, not only clamp",
        Op("RELU6"),
        x,
        before,
        [],
        after,
        x.shape,
    )
    return relu6_by_rule(case, before, after)


def space_to_batch_of_zero_points():
    quantization = Quantization.tensor(0.1, -10)
    x = np.arange(1, 9, dtype=np.int8).reshape(1, 1, 8, 1)
    block, paddings = np.array([1, 2], np.int32), np.array([[0, 0], [2, 2]], np.int32)
    constants = [
        Tensor("block", block.shape, np.int32, None, block),
        Tensor("paddings", paddings.shape, np.int32, None, paddings),
    ]
    op = Op("SPACE_TO_BATCH_ND", schema.SpaceToBatchNDOptionsT())
    what = "padding is the zero point, not 0"
    known = [-10, 1, 3, 5, 7, -10, -10, 2, 4, 6, 8, -10]
    name = "l2_space_to_batch_padding"
    case = single(name, what, op, x, quantization, constants, quantization, (2, 1, 6, 1), known=known)
    return replace(case, engine="litert")


def average_pool_of_a_batch():
    quantization = Quantization.tensor(0.1, -3)
    options = schema.Pool2DOptionsT()
    options.filterHeight = options.filterWidth = options.strideH = options.strideW = 2
    options.padding = schema.Padding.VALID
    x = np.array([-28, 91, 13, -120, 67, 58, 88, -84], np.int8).reshape(2, 2, 2, 1)
    op = Op("AVERAGE_POOL_2D", options)
    what = "the second image of a batch must be written"
    return single(
        "l7_average_pool_batch", what, op, x, quantization, [], quantization, (2, 1, 1, 1), known=[-11, 32]
    )


def fully_connected(
    name, what, *, x, x_quantization, weights, weights_quantization, bias, y_quantization, known
):
    weights = np.array(weights, np.int8)
    constants = [Tensor("weights", weights.shape, np.int8, weights_quantization, weights), None]
    if bias is not None:
        scale = x_quantization.scale[0] * weights_quantization.scale[0]
        bias = np.array(bias, np.int32)
        constants[1] = Tensor("bias", bias.shape, np.int32, Quantization.tensor(scale, 0), bias)
    op = Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT())
    x = np.array([x], np.int8)
    shape = (1, len(weights))
    return single(name, what, op, x, x_quantization, constants, y_quantization, shape, known=known)


def single(name, what, op, x, x_quantization, constants, y_quantization, y_shape, known=None):
    """An int8 case with one input, one output and one set."""
    op = Op(op.name, op.options, INT8_VERSIONS[op.name])
    inputs = [Tensor("x0", x.shape, np.int8, x_quantization), *constants]
    return Case(
        name=f"fault_{name}",
        what=f"{op.name.lower()} i8 {what}",
        model=build(op, inputs, [Tensor("y", y_shape, np.int8, y_quantization)]),
        inputs=[int8_meta("x0", x.shape, x_quantization)],
        outputs=[int8_meta("y", y_shape, y_quantization)],
        sets=[[x]],
        known=known,
    )
