"""int16 activations with int8 weights and int64 biases (16x8).

Expected values come from TensorFlow Lite Micro, which sums in 64 bits.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from families.convolution import window_options
from tflite_file import Op, Quantization, Tensor, build

X = Quantization.tensor(0.000431, 0)


def all_cases():
    yield from layers()
    yield no_bias_beyond_32_bits()
    yield from others()


def layers():
    options = schema.Conv2DOptionsT()
    window_options(options, (2, 1), (1, 1), "same", "relu6")
    op = Op("CONV_2D", options, 4)
    yield layer("conv_2d_i16_same_relu6", op, (1, 5, 6, 3), (19, 3, 3, 3), (1, 3, 6, 19))
    options = schema.Conv2DOptionsT()
    window_options(options, (1, 1), (1, 1), "valid", "none")
    op = Op("CONV_2D", options, 4)
    yield layer("conv_2d_i16_batch2_per_tensor", op, (2, 4, 4, 33), (5, 3, 3, 33), (2, 2, 2, 5), one_scale=True)
    options = schema.DepthwiseConv2DOptionsT()
    window_options(options, (1, 1), (1, 1), "same", "relu")
    options.depthMultiplier = 2
    op = Op("DEPTHWISE_CONV_2D", options, 5)
    yield layer("depthwise_conv_2d_i16_multiplier2", op, (1, 5, 4, 9), (1, 3, 3, 18), (1, 5, 4, 18), axis=3)
    op = Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT(), 7)
    yield layer("fully_connected_i16_batch3", op, (3, 300), (7, 300), (3, 7), one_scale=True)


def layer(name, op, shape, filters, result, axis=0, one_scale=False):
    """A layer whose results fill the range."""
    rng = np.random.default_rng(len(name))
    channels = filters[axis]
    scales = rng.uniform(0.002, 0.02, 1 if one_scale else channels)
    weights = Quantization.channels(scales, axis) if not one_scale else Quantization.tensor(scales[0], 0)
    bias_scale = np.float64(X.scale[0]) * np.array(weights.scale)
    bias = rng.normal(0, 1 / bias_scale, channels).astype(np.int64)
    fan_in = np.prod(filters) / channels
    y = Quantization.tensor(20000 * X.scale[0] * 70 * np.mean(scales) * np.sqrt(fan_in) * 2 / 32767, 0)
    operands = [
        Tensor("x", shape, np.int16, X),
        Tensor("weights", filters, np.int8, weights, rng.integers(-127, 128, filters, np.int8)),
        Tensor("bias", bias.shape, np.int64, Quantization.channels(bias_scale, 0), bias),
    ]
    extremes = rng.choice(np.array([-32768, 32767, 0], np.int16), shape)
    return case(name, op, operands, result, y, [[values(rng, shape)], [extremes]])


def no_bias_beyond_32_bits():
    """Known fault L3: 1024 products of 32767 and 127."""
    weights = np.full((1, 1024), 127, np.int8)
    operands = [
        Tensor("x", (1, 1024), np.int16, Quantization.tensor(1 / 32768, 0)),
        Tensor("weights", weights.shape, np.int8, Quantization.tensor(1 / 127, 0), weights),
        None,
    ]
    op = Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT(), 7)
    sets = [[np.full((1, 1024), 32767, np.int16)]]
    y = Quantization.tensor(1024 / 32768, 0)
    return case("fully_connected_i16_l3", op, operands, (1, 1), y, sets, known=[32767])


def others():
    rng, shape = np.random.default_rng(3), (1, 4, 5, 6)
    options = schema.AddOptionsT()
    options.potScaleInt16 = False
    operands = [
        Tensor("x0", shape, np.int16, X),
        Tensor("x1", (6,), np.int16, Quantization.tensor(0.000077, 0)),
    ]
    sets = [[values(rng, shape), values(rng, (6,))]]
    yield case("add_i16_channel_vector", Op("ADD", options, 2), operands, shape, Quantization.tensor(0.0004, 0), sets)
    x = [Tensor("x", shape, np.int16, X)]
    sets = [[values(rng, shape)]]
    op = Op("QUANTIZE", None, 2)
    yield case("quantize_i16_i16", op, x, shape, Quantization.tensor(0.00057, 0), sets)
    yield case("quantize_i16_i8", op, x, shape, Quantization.tensor(0.11, -7), sets, dtype=np.int8)
    x = [Tensor("x", shape, np.int8, Quantization.tensor(0.11, -7))]
    sets = [[rng.integers(-128, 128, shape, np.int8)]]
    yield case("quantize_i8_i16", op, x, shape, Quantization.tensor(0.0005, 0), sets)


def case(name, op, operands, result, y, sets, known=None, dtype=np.int16):
    given = [operand for operand in operands if operand is not None and operand.data is None]
    names = [f"{operand.name}" for operand in given]
    return Case(
        name=name,
        what=f"{op.name.lower()} of {names} in {np.dtype(given[0].dtype).name}",
        model=build(op, operands, [Tensor("y", result, dtype, y)]),
        inputs=[meta(x.name, x.shape, x.dtype, x.quantization) for x in given],
        outputs=[meta("y", result, dtype, y)],
        sets=sets,
        known=known,
    )


def values(rng, shape):
    return rng.integers(-32768, 32768, shape, np.int16)


def meta(name, shape, dtype, quantization):
    kind = np.dtype(dtype).name.upper()
    return meta_tensor(name, shape, kind, quantization.scale[0], quantization.zero_point[0])
