"""Weights that the file holds in less than a byte, or only where they are not 0.

int4 weights are run by TensorFlow Lite Micro, which widens them; where it does not take them,
it is given the same numbers as int8, which LiteRT agrees with up to its rounding. Those under
float32 activations and sparse ones are run by LiteRT.
"""

from dataclasses import replace

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from engines import TFLITE_MICRO, run_tflite_micro
from families.convolution import window_options
from families.transposed import entry
from tflite_file import Op, Quantization, Sparse, Tensor, build, build_graph

X = Quantization.tensor(0.041, -11)
WIDE = Quantization.tensor(0.00041, 0)


def all_cases():
    yield from four_bits()
    yield from sparse()


def four_bits():
    dense = schema.FullyConnectedOptionsT()
    fully_connected = Op("FULLY_CONNECTED", dense, 4)
    yield layer("odd", fully_connected, (3, 7), (5, 7), (3, 5))
    yield layer("even_no_bias", fully_connected, (1, 64), (18, 64), (1, 18), bias=False)
    yield layer("per_channel", Op("FULLY_CONNECTED", dense, 12), (2, 9), (4, 9), (2, 4), axis=0, widened=True)
    yield layer("wide", fully_connected, (2, 8), (5, 8), (2, 5), kind=np.int16, widened=True)
    yield layer("float", fully_connected, (2, 7), (5, 7), (2, 5), kind=np.float32, engine="litert")
    relu = conv_2d("same", "relu")
    yield layer("same_relu", relu, (1, 5, 4, 3), (17, 3, 3, 3), (1, 5, 4, 17), axis=0)
    # Rows of the window have odd lengths, and are too long to be gathered.
    yield layer("long_odd_rows", conv_2d("same"), (2, 4, 4, 31), (3, 3, 3, 31), (2, 4, 4, 3), axis=0)
    yield layer("groups", conv_2d("valid"), (1, 4, 4, 6), (4, 2, 2, 3), (1, 3, 3, 4), axis=0)
    yield layer("one_scale", conv_2d("valid"), (1, 4, 4, 2), (5, 1, 1, 2), (1, 4, 4, 5))
    yield layer("float", conv_2d("same"), (1, 4, 4, 2), (5, 3, 3, 2), (1, 4, 4, 5), kind=np.float32, engine="litert")
    options = schema.DepthwiseConv2DOptionsT()
    window_options(options, (1, 1), (1, 1), "same", "none")
    options.depthMultiplier = 1
    depthwise = Op("DEPTHWISE_CONV_2D", options, 3)
    yield layer("odd", depthwise, (1, 5, 4, 5), (1, 3, 3, 5), (1, 5, 4, 5), axis=3)


def layer(name, op, x, filters, result, *, axis=None, bias=True, kind=np.int8, engine="micro", widened=False):
    """`widened`: run with the weights as int8, since the reference takes no int4 there."""
    rng = np.random.default_rng(len(name) + len(op.name))
    numbers = rng.integers(-8, 8, filters, np.int8)
    channels = filters[axis or 0]
    fan_in = np.prod(filters) / channels
    scales = 0.6 / np.sqrt(fan_in) * np.exp(rng.uniform(-1, 0, channels if axis is not None else 1))
    weights = Quantization.tensor(scales[0], 0) if axis is None else Quantization.channels(scales, axis)
    x_type = {np.int8: X, np.int16: WIDE, np.float32: None}[kind]
    y_type = {np.int8: Quantization.tensor(0.091, 5), np.int16: Quantization.tensor(0.002, 0), np.float32: None}[kind]
    operands = [
        Tensor("x", x, kind, x_type),
        Tensor("weights", filters, np.int8, weights, numbers, four_bits=True),
    ]
    if bias and x_type is None:
        operands.append(Tensor("bias", (channels,), np.float32, None, rng.normal(size=channels).astype(np.float32)))
    elif bias:
        scale = np.float64(x_type.scale[0]) * np.array(weights.scale)
        data = rng.normal(0, 1 / scale, channels).astype(np.int64 if kind == np.int16 else np.int32)
        operands.append(Tensor("bias", (channels,), data.dtype, Quantization.channels(scale, 0), data))
    y = Tensor("y", result, kind, y_type)
    if x_type is None:
        sets = [[rng.normal(size=x).astype(np.float32)]]
    else:
        limits = np.iinfo(kind)
        extremes = rng.choice(np.array([limits.min, limits.max], kind), x)
        sets = [[rng.integers(limits.min, limits.max, x, kind, endpoint=True)], [extremes]]
    as_int8 = [replace(operand, four_bits=False) for operand in operands]
    return Case(
        name=f"{op.name.lower()}_i4_{name}",
        what=f"{op.name.lower()}, {np.dtype(kind).name} with int4 weights {list(filters)}",
        model=build(op, operands, [y]),
        inputs=[entry(operands[0])],
        outputs=[entry(y)],
        sets=sets,
        engine=engine,
        expected=run_tflite_micro(build(op, as_int8, [y]), sets) if widened else None,
        expected_from=f"{TFLITE_MICRO}, given the weights as int8" if widened else None,
    )


def sparse():
    rng = np.random.default_rng(12)
    dense = Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT(), 3)
    # Rows, then the columns of each that are not 0.
    rows = Sparse(order=(0, 1), compressed=(1,))
    yield densified("rows_f32", dense, (2, 9), thinned(rng, 5, 9), rows, (2, 5))
    # Columns first, and rows of blocks of 2 by 4, in both of which indices have 16 bits.
    blocks = Sparse(order=(1, 0, 2, 3), compressed=(0, 1), blocks=((0, 2), (1, 4)), index_type=np.uint16)
    yield densified("blocks_f16", dense, (1, 12), thinned(rng, 6, 12).astype(np.float16), blocks, (1, 6))
    window = Sparse(order=(3, 0, 2, 1), compressed=(0, 2), index_type=np.uint8)
    yield densified("conv_f32", conv_2d("same"), (1, 4, 4, 3), thinned(rng, 4, 3, 2, 3), window, (1, 4, 4, 4))
    blocks = Sparse(order=(0, 1, 2), compressed=(1,), blocks=((1, 4),), index_type=np.uint8)
    numbers = (thinned(rng, 4, 8) * 40).astype(np.int8)
    yield densified("blocks_i8", dense, (1, 8), numbers, blocks, (1, 4), Quantization.tensor(0.02, 0))


def thinned(rng, *shape):
    """Numbers of which most are 0."""
    return (rng.normal(size=shape) * (rng.random(shape) < 0.3)).astype(np.float32)


def densified(name, op, x, weights, sparse, result, scales=None):
    """A layer behind DENSIFY, and DEQUANTIZE where weights are stored in half precision."""
    rng = np.random.default_rng(len(name))
    stored = Tensor("stored", weights.shape, weights.dtype, scales, weights, sparse=sparse)
    full = Tensor("weights", weights.shape, weights.dtype, scales)
    image, y = Tensor("x", x, np.float32), Tensor("y", result, np.float32)
    bias = Tensor("bias", (weights.shape[0],), np.float32, None, rng.normal(size=weights.shape[0]).astype(np.float32))
    nodes = [(Op("DENSIFY"), [stored], [full])]
    if weights.dtype == np.float16:
        half, full = full, Tensor("widened", weights.shape, np.float32)
        nodes.append((Op("DEQUANTIZE", None, 3), [half], [full]))
    nodes.append((op, [image, full, bias], [y]))
    return Case(
        name=f"densify_{name}",
        what=f"densify {list(weights.shape)} as {sparse}",
        model=build_graph(nodes),
        inputs=[meta_tensor("x", x, "FLOAT32")],
        outputs=[meta_tensor("y", result, "FLOAT32")],
        sets=[[rng.normal(size=x).astype(np.float32)]],
        engine="litert",
    )


def conv_2d(padding, activation="none"):
    options = schema.Conv2DOptionsT()
    window_options(options, (1, 1), (1, 1), padding, activation)
    return Op("CONV_2D", options, 3)
