"""Convolutions, products with weights, pools, softmax."""

import math
from dataclasses import replace

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import (
    DTYPES,
    LITERT,
    MICRO,
    Model,
    activation,
    extents,
    legacy,
    near,
    options,
    quantized,
    result,
    scale,
    sets_of,
)
from fixed_point import multiply, quantized_bound
from tflite_file import Op, Quantization, Tensor

# What activation functions limit results to; none is further than any number.
LIMITS = {0: (-1e6, 1e6), 1: (0, 1e6), 2: (-1, 1), 3: (0, 6)}
# The first version that takes the activations' type, int16 or others.
VERSIONS = {
    "CONV_2D": (3, 4),
    "DEPTHWISE_CONV_2D": (3, 5),
    "FULLY_CONNECTED": (7, 7),
    "TRANSPOSE_CONV": (3, 4),
}


def window(rng, most=3):
    """Extents of a kernel, strides, dilations, padding, and an image that is large enough."""
    kernel = tuple(int(k) for k in rng.integers(1, most + 2, 2))
    stride = tuple(int(s) for s in rng.choice([1, 1, 2, 3], 2))
    dilation = tuple(int(d) for d in rng.choice([1, 1, 1, 2, 3], 2))
    padding = int(rng.choice([schema.Padding.SAME, schema.Padding.VALID]))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    least = [1, 1] if padding == schema.Padding.SAME else reach
    image = tuple(int(rng.integers(low, low + 8)) for low in least)
    return kernel, stride, dilation, padding, image


def window_result(kernel, stride, dilation, padding, image):
    """Extents of the result."""
    if padding == schema.Padding.SAME:
        return tuple(-(-n // s) for n, s in zip(image, stride))
    return tuple((n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(image, kernel, stride, dilation))


def window_fields(rng, stride, dilation, padding):
    return {
        "strideH": stride[0],
        "strideW": stride[1],
        "dilationHFactor": dilation[0],
        "dilationWFactor": dilation[1],
        "padding": padding,
        "fusedActivationFunction": activation(rng),
    }


def weights_of(rng, row, shape, axis, per_channel):
    """Weights of one scale, or of scales that are up to 2^12 apart."""
    if "u8" in row:
        q = Quantization.tensor(scale(rng, -10, -4), int(rng.integers(1, 256)))
        return Tensor("weights", shape, np.uint8, q, rng.integers(0, 256, shape).astype(np.uint8))
    channels = shape[axis]
    if per_channel:
        spread = rng.choice([0.5, 3, 12])
        scales = scale(rng, -8, -4) * 2.0 ** rng.uniform(-spread, 0, channels)
        q = Quantization.channels(scales, axis)
    else:
        q = Quantization.tensor(scale(rng, -10, -4), 0)
    data = rng.integers(-127, 128, shape)
    if rng.random() < 0.2:
        data = rng.choice([-127, 127], shape)
    return Tensor("weights", shape, np.int8, q, data.astype(np.int8))


def layer(rng, row, op, x_shape, weights_shape, y_shape, axis, *, fan_in, bias=True, zero_point=0, before=()):
    """A layer with weights: `before` are operands in front of the weights and `x`."""
    x_type = DTYPES[row[0]]
    dynamic = "f32" in row
    # With float activations LiteRT reads a scale for each channel of a depthwise convolution.
    per_channel = (dynamic and axis == 3) or (zero_point == 0 and rng.random() < 0.8)
    x = None if dynamic else quantized(rng, x_type, scale(rng, -14 if x_type == np.int16 else -9, -2))
    weights = weights_of(rng, row, weights_shape, axis, per_channel)
    if zero_point:
        q = Quantization.tensor(weights.quantization.scale[0], zero_point)
        weights = replace(weights, quantization=q)
    channels = weights_shape[axis]
    step = np.float64(1 if dynamic else x.scale[0]) * np.array(weights.quantization.scale)
    span = {"i16": 32768.0, "f32": 1.0}.get(row[0], 128.0)
    sums = 0.4 * span * 73 * math.sqrt(fan_in)  # a usual sum, in steps
    if not dynamic and weights.dtype == np.int8 and rng.random() < 0.15:
        # Few small weights under a fine result: factors above 1.
        data = rng.choice([-1, 0, 0, 1], weights_shape).astype(np.int8)
        weights = replace(weights, data=data)
        sums = 0.2 * span * math.sqrt(fan_in)
    y = None
    if not dynamic:
        y = quantized(rng, x_type, near(rng, float(np.exp(np.log(step).mean())) * sums * 3 / span, 2.5))
    constants = [weights, bias_of(rng, row, channels, step, sums) if bias else None]
    tensor = Tensor("x", x_shape, x_type, x)
    operands = [tensor, *constants] if not before else [*before, weights, tensor, constants[1]]
    engine = LITERT if dynamic else legacy(row)
    # An operand that is left out at the end is not listed.
    while operands[-1] is None:
        operands.pop()
    if dynamic:
        sets = [[rng.normal(rng.choice([0, 2, -2]), 1, x_shape).astype(np.float32)] for _ in range(2)]
    else:
        sets = sets_of(rng, operands)
    return Model(op, operands, [result(y_shape, x_type, y)], sets, engine)


def bias_of(rng, row, channels, step, sums):
    """Biases that are small, of the size of sums, or much larger."""
    if "f32" in row:
        return Tensor("bias", (channels,), np.float32, None, rng.normal(0, 1, channels).astype(np.float32))
    size = sums * rng.choice([0.1, 1.0, 8.0])
    dtype = np.int64 if "i64" in row else np.int32
    data = np.clip(rng.normal(0, size, channels), -(2**30), 2**30)
    quantization = Quantization.channels(step, 0)
    return Tensor("bias", (channels,), dtype, quantization, data.astype(dtype))


def version(name, row):
    return VERSIONS[name][row[0] == "i16"] if "u8" not in row and "f32" not in row else 2


def conv_2d(rng, row):
    kernel, stride, dilation, padding, image = window(rng)
    groups = int(rng.choice([1, 1, 1, 1, 2, 3])) if row[0] == "i8" else 1
    depth, filters = int(rng.integers(1, 7)), int(rng.integers(1, 7)) * groups
    batch = int(rng.choice([1, 1, 1, 1, 2] if "f32" in row else [1, 1, 2, 3]))
    fields = window_fields(rng, stride, dilation, padding)
    op = Op("CONV_2D", options(schema.Conv2DOptionsT, **fields), version("CONV_2D", row))
    extent = window_result(kernel, stride, dilation, padding, image)
    return layer(
        rng,
        row,
        op,
        (batch, *image, depth * groups),
        (filters, *kernel, depth),
        (batch, *extent, filters),
        0,
        fan_in=math.prod(kernel) * depth,
        bias="f32" in row or "u8" in row or rng.random() < 0.8,
    )


def depthwise_conv_2d(rng, row):
    kernel, stride, dilation, padding, image = window(rng)
    channels, multiplier = int(rng.integers(1, 9)), int(rng.choice([1, 1, 2, 3, 4]))
    batch = int(rng.choice([1, 1, 1, 1, 2] if "f32" in row else [1, 1, 2, 3]))
    fields = window_fields(rng, stride, dilation, padding)
    op = Op(
        "DEPTHWISE_CONV_2D",
        options(schema.DepthwiseConv2DOptionsT, depthMultiplier=multiplier, **fields),
        version("DEPTHWISE_CONV_2D", row),
    )
    extent = window_result(kernel, stride, dilation, padding, image)
    return layer(
        rng,
        row,
        op,
        (batch, *image, channels),
        (1, *kernel, channels * multiplier),
        (batch, *extent, channels * multiplier),
        3,
        fan_in=math.prod(kernel),
        bias="f32" in row or "u8" in row or rng.random() < 0.8,
    )


def fully_connected(rng, row):
    depth, filters = int(rng.integers(1, 80)), int(rng.integers(1, 40))
    keep = bool(rng.integers(2))
    leading = tuple(int(extent) for extent in rng.integers(1, 5, int(rng.integers(1, 3))))
    rows = leading if keep else (math.prod(leading),)
    # Weights with a zero point: tflite-micro honours it, of one scale.
    zero_point = int(rng.choice([-128, 127, 5])) if row[0] == "i8" and rng.random() < 0.2 else 0
    fields = {"fusedActivationFunction": activation(rng), "keepNumDims": keep}
    if "f32" in row:
        fields["asymmetricQuantizeInputs"] = bool(rng.integers(2))
    fields = options(schema.FullyConnectedOptionsT, **fields)
    op = Op("FULLY_CONNECTED", fields, version("FULLY_CONNECTED", row))
    model = layer(
        rng,
        row,
        op,
        (*leading, depth),
        (filters, depth),
        (*rows, filters),
        0,
        fan_in=depth,
        bias=rng.random() < 0.8,
        zero_point=zero_point,
    )
    if "u8" in row:
        model.engine, model.correct = None, lambda sets, _: [[rounded_twice(model, q)] for (q,) in sets]
    return model


def rounded_twice(model, q):
    """The uint8 result of FULLY_CONNECTED, computed.

    tflite-micro has no uint8. LiteRT scales its sums in float32 since 1.4; before, and in
    tflite-runtime 2.14, in integers with two roundings as everything else, by the scales'
    product in single precision.
    """
    x, weights, bias = (*model.operands, None)[:3]
    (p, r), y = (tensor.quantization for tensor in (x, weights)), model.results[0].quantization
    differences = q.astype(np.int64).reshape(-1, q.shape[-1]) - p.zero_point[0]
    sums = differences @ (weights.data.astype(np.int64) - r.zero_point[0]).T
    sums += 0 if bias is None else bias.data
    steps = multiply(sums, float(np.float32(p.scale[0]) * np.float32(r.scale[0])) / y.scale[0])
    low, high = LIMITS[model.op.options.fusedActivationFunction]
    low, high = (quantized_bound(bound, y.scale[0], y.zero_point[0]) for bound in (low, high))
    steps = np.clip(steps + y.zero_point[0], max(low, 0), min(high, 255))
    return steps.astype(np.uint8).reshape(model.results[0].shape)


def transpose_conv(rng, row):
    kernel, stride = rng.integers(1, 5, 2), rng.integers(1, 4, 2)
    image, depth, filters = rng.integers(1, 7, 2), int(rng.integers(1, 7)), int(rng.integers(1, 7))
    batch = int(rng.choice([1, 1, 2]))
    padding = int(rng.choice([schema.Padding.SAME, schema.Padding.VALID]))
    if padding == schema.Padding.SAME:
        extent = image * stride - rng.integers(0, stride, 2)
    else:
        extent = (image - 1) * stride + kernel
    y_shape = (batch, *(int(n) for n in extent), filters)
    fields = {"padding": padding, "strideH": int(stride[0]), "strideW": int(stride[1])}
    fields = options(schema.TransposeConvOptionsT, **fields)
    op = Op("TRANSPOSE_CONV", fields, version("TRANSPOSE_CONV", row[-1:]))
    shape = np.array(y_shape, np.int32)
    # The row names the operands in any order; what counts is the activations' type.
    kind = row[-1]
    bias = "i64" if kind == "i16" else "i32"
    return layer(
        rng,
        (kind, "i8", bias, kind) if kind != "f32" else row,
        op,
        (batch, *(int(n) for n in image), depth),
        (filters, *(int(k) for k in kernel), depth),
        y_shape,
        0,
        fan_in=depth * 2,
        bias=rng.random() < 0.8,
        before=[Tensor("shape", shape.shape, np.int32, None, shape)],
    )


def pool(name):
    def draw(rng, row):
        kernel, stride, _, padding, image = window(rng, 4)
        if padding == schema.Padding.VALID:
            image = tuple(max(n, k) for n, k in zip(image, kernel))
        extent = window_result(kernel, stride, (1, 1), padding, image)
        batch, channels = int(rng.choice([1, 2, 3])), int(rng.integers(1, 9))
        fields = {
            "filterHeight": kernel[0],
            "filterWidth": kernel[1],
            "strideH": stride[0],
            "strideW": stride[1],
            "padding": padding,
            "fusedActivationFunction": activation(rng),
        }
        dtype = DTYPES[row[0]]
        # Both references want one quantization for operand and result.
        shared = quantized(rng, dtype, scale(rng, -12 if dtype == np.int16 else -7, 0))
        x = Tensor("x", (batch, *image, channels), dtype, shared)
        y = result((batch, *extent, channels), dtype, shared)
        op = Op(name, options(schema.Pool2DOptionsT, **fields), 3 if dtype == np.int16 else 2)
        return Model(op, [x], [y], sets_of(rng, [x]), legacy(row))

    return draw


def softmax(rng, row):
    x_type, y_type = (DTYPES[name] for name in row)
    shape = extents(rng, int(rng.integers(1, 5)))
    # The references end the process where a sum of exponentials is 512 or more.
    shape = (*shape[:-1], min(shape[-1], 500))
    low, high = (-15, -9) if x_type == np.int16 else (-10, 0)
    x = Tensor("x", shape, x_type, quantized(rng, x_type, scale(rng, low, high)))
    fixed = {np.int8: (1 / 256, -128), np.uint8: (1 / 256, 0), np.int16: (1 / 32768, 0)}[y_type]
    if (x_type, y_type) == (np.int8, np.int16):
        fixed = 1 / 65536, -32768
    beta = float(rng.choice([1.0, 1.0, 0.5, 2.5, rng.uniform(0.01, 4)]))
    op = Op("SOFTMAX", options(schema.SoftmaxOptionsT, beta=beta), 3 if "i16" in row else 2)
    y = result(shape, y_type, Quantization.tensor(*fixed))
    return Model(op, [x], [y], sets_of(rng, [x]), legacy(row))


def log_softmax(rng, row):
    shape = extents(rng, int(rng.integers(1, 5)))
    dtype = DTYPES[row[0]]
    x = Tensor("x", shape, dtype, quantized(rng, dtype, scale(rng, -10, 0)))
    y = result(shape, dtype, Quantization.tensor(16 / 256, 127))
    op = Op("LOG_SOFTMAX", schema.LogSoftmaxOptionsT(), 2)
    return Model(op, [x], [y], sets_of(rng, [x]), MICRO)


def l2_normalization(rng, row):
    shape = extents(rng, int(rng.integers(1, 5)))
    dtype = DTYPES[row[0]]
    x = Tensor("x", shape, dtype, quantized(rng, dtype))
    y = result(shape, dtype, Quantization.tensor(1 / 128, 128 if dtype == np.uint8 else 0))
    op = Op("L2_NORMALIZATION", schema.L2NormOptionsT(), 1 if dtype == np.uint8 else 2)
    return Model(op, [x], [y], sets_of(rng, [x]), legacy(row))


DRAWS = {
    "AVERAGE_POOL_2D": pool("AVERAGE_POOL_2D"),
    "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "FULLY_CONNECTED": fully_connected,
    "L2_NORMALIZATION": l2_normalization,
    "LOG_SOFTMAX": log_softmax,
    "MAX_POOL_2D": pool("MAX_POOL_2D"),
    "SOFTMAX": softmax,
    "TRANSPOSE_CONV": transpose_conv,
}
