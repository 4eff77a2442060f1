"""float32 activations with weights that are stored otherwise: int8, or half precision.

TensorFlow Lite Micro does not run them; the expected values are LiteRT's.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from families.convolution import window_options
from tflite_file import Op, Quantization, Tensor, build_graph


def all_cases():
    yield from dynamic()
    yield from half()


def dynamic():
    """Dynamic range: int8 weights, and activations that are quantized when they are there."""
    ones, units = np.ones((1, 3), np.float32), np.array([[10, 20, 30]], np.int8)
    scale = Quantization.tensor(0.1, 0)
    yield case("fully_connected_dynamic_l13", dense(), ones, units, scale, None, (1, 1), known=[6.0])
    rng = np.random.default_rng(5)
    rows, units = rng.normal(size=(3, 37)) * [[1], [30], [0]], rng.integers(-127, 128, (5, 37), np.int8)
    scales = Quantization.channels(rng.uniform(0.01, 0.05, 5), 0)
    yield case("fully_connected_dynamic_batch3_per_channel", dense(12), rows, units, scales, normal(rng, 5), (3, 5))
    image, filters = rng.normal(size=(1, 5, 6, 3)), rng.integers(-127, 128, (18, 3, 3, 3), np.int8)
    op = conv_2d("same", "relu")
    yield case("conv_2d_dynamic_same_relu", op, image, filters, scale, normal(rng, 18), (1, 5, 6, 18))
    image, filters = rng.normal(size=(1, 4, 4, 33)), rng.integers(-127, 128, (6, 3, 3, 33), np.int8)
    yield case("conv_2d_dynamic_valid_no_bias", conv_2d("valid"), image, filters, scale, np.zeros(6), (1, 2, 2, 6))
    yield from asymmetric()


def asymmetric():
    """Dynamic range with zero points that are found when the activations are there."""
    rng = np.random.default_rng(15)

    def filters(*shape):
        return rng.integers(-127, 128, shape, np.int8)

    def scales(count, axis):
        return Quantization.channels(rng.uniform(0.01, 0.05, count), axis)

    # Rows on both sides of zero, on one, of zeros; of one and of several scales.
    rows = (rng.normal(size=(5, 37)) + [[0.3], [4], [-4], [-0.2], [0]]) * [[1], [30], [1], [1e-3], [0]]
    op = dense(9, asymmetric=True)
    one = Quantization.tensor(0.1, 0)
    yield case("fully_connected_dynamic_asymmetric", op, rows, filters(6, 37), one, normal(rng, 6), (5, 6))
    yield case(
        "fully_connected_dynamic_asymmetric_per_channel",
        op,
        rows,
        filters(6, 37),
        scales(6, 0),
        normal(rng, 6),
        (5, 6),
    )
    # Cells outside of an image without zeros count as 0 all the same.
    image = rng.uniform(1, 3, size=(1, 5, 6, 3))
    op, name = conv_2d("same", "relu6"), "conv_2d_dynamic_per_channel"
    weights = filters(18, 3, 3, 3)
    yield case(f"{name}_same_relu6", op, image, weights, scales(18, 0), normal(rng, 18), (1, 5, 6, 18))
    op, image = conv_2d("same", stride=(2, 1), dilation=(1, 2)), rng.normal(size=(1, 7, 5, 6))
    weights = filters(4, 3, 3, 3)
    yield case(f"{name}_groups_stride_dilation", op, image, weights, scales(4, 0), normal(rng, 4), (1, 4, 5, 4))
    # As one scale for all: without zero points.
    op, equal, weights = conv_2d("same"), Quantization.channels([0.02] * 4, 0), filters(4, 3, 3, 6)
    yield case(f"{name}_equal_scales", op, image + 2, weights, equal, normal(rng, 4), (1, 7, 5, 4))
    op, still, weights = conv_2d("valid"), np.zeros((1, 3, 3, 2)), filters(3, 2, 2, 2)
    yield case(f"{name}_zeros", op, still, weights, scales(3, 0), normal(rng, 3), (1, 2, 2, 3))
    image, name = rng.normal(size=(1, 6, 5, 19)) - 1, "depthwise_conv_2d_dynamic"
    yield case(f"{name}_same", depthwise(), image, filters(1, 3, 3, 19), scales(19, 3), normal(rng, 19), (1, 6, 5, 19))
    op = depthwise(3, "valid", "relu", (2, 1), (1, 2))
    image, weights, name = rng.normal(size=(1, 7, 6, 2)) + 0.5, filters(1, 3, 2, 6), f"{name}_multiplier3_valid_relu"
    yield case(name, op, image, weights, scales(6, 3), normal(rng, 6), (1, 3, 4, 6))


def half():
    """Weights and biases in half precision, behind DEQUANTIZE."""
    rng = np.random.default_rng(6)
    weights = normal(rng, 17, 3, 3, 2)
    # Subnormal numbers, and the largest.
    weights.flat[:4] = 3e-8, -6e-5, 65504, 0
    image = rng.normal(size=(1, 5, 6, 2))
    yield case("conv_2d_f16_same_relu6", conv_2d("same", "relu6"), image, weights, None, normal(rng, 17), (1, 5, 6, 17))
    image, weights = rng.normal(size=(2, 5, 6, 19)), normal(rng, 1, 3, 3, 19)
    yield case("depthwise_conv_2d_f16_batch2", depthwise(), image, weights, None, normal(rng, 19), (2, 5, 6, 19))
    rows, weights = rng.normal(size=(2, 21)), normal(rng, 13, 21)
    yield case("fully_connected_f16", dense(1), rows, weights, None, normal(rng, 13), (2, 13))


def case(name, op, x, weights, scales, bias, result, known=None):
    """A layer; its weights are int8 with `scales`, or else in half precision."""
    x_tensor, y = Tensor("x", x.shape, np.float32), Tensor("y", result, np.float32)
    nodes, operands = [], [x_tensor]
    if scales is not None:
        operands.append(Tensor("weights", weights.shape, np.int8, scales, weights))
        operands.append(None if bias is None else Tensor("bias", bias.shape, np.float32, None, bias))
    else:
        for tensor, data in ("weights", weights), ("bias", bias):
            stored = Tensor(f"{tensor}_half", data.shape, np.float16, None, data.astype(np.float16))
            widened = Tensor(tensor, data.shape, np.float32)
            nodes.append((Op("DEQUANTIZE", None, 3), [stored], [widened]))
            operands.append(widened)
    nodes.append((op, operands, [y]))
    return Case(
        name=name,
        what=f"{op.name.lower()}, float32 with {weights.dtype if scales is not None else 'float16'} weights",
        model=build_graph(nodes),
        inputs=[meta_tensor("x", x.shape, "FLOAT32")],
        outputs=[meta_tensor("y", result, "FLOAT32")],
        sets=[[x.astype(np.float32)]],
        engine="litert",
        known=known,
    )


def normal(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def dense(version=3, asymmetric=False):
    options = schema.FullyConnectedOptionsT()
    options.asymmetricQuantizeInputs = asymmetric
    return Op("FULLY_CONNECTED", options, version)


def conv_2d(padding, activation="none", stride=(1, 1), dilation=(1, 1)):
    options = schema.Conv2DOptionsT()
    window_options(options, stride, dilation, padding, activation)
    return Op("CONV_2D", options, 2)


def depthwise(multiplier=1, padding="same", activation="none", stride=(1, 1), dilation=(1, 1)):
    options = schema.DepthwiseConv2DOptionsT()
    window_options(options, stride, dilation, padding, activation)
    options.depthMultiplier = multiplier
    return Op("DEPTHWISE_CONV_2D", options)
