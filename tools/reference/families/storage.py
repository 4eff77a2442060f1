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


def dense(version=3):
    return Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT(), version)


def conv_2d(padding, activation="none"):
    options = schema.Conv2DOptionsT()
    window_options(options, (1, 1), (1, 1), padding, activation)
    return Op("CONV_2D", options, 2)


def depthwise():
    options = schema.DepthwiseConv2DOptionsT()
    window_options(options, (1, 1), (1, 1), "same", "none")
    options.depthMultiplier = 1
    return Op("DEPTHWISE_CONV_2D", options)
