"""Functions of one element."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import (
    DTYPES,
    LITERT,
    MICRO,
    Model,
    broadcast_pair,
    extents,
    legacy,
    limits,
    near,
    operand,
    options,
    quantized,
    result,
    scale,
    sets_of,
    values,
)
from fixed_point import multiply, quantized_bound
from tflite_file import Op, Quantization, Tensor


def elementwise(rng, row, op, x=None, y=None, engine=None):
    """A function whose result has any scale, or `y`."""
    x_type, y_type = (DTYPES[name] for name in (row[0], row[-1]))
    x = quantized(rng, x_type) if x is None else x
    y = quantized(rng, y_type, near(rng, x.scale[0])) if y is None else y
    shape = extents(rng, int(rng.integers(1, 5)))
    tensor = Tensor("x", shape, x_type, x)
    return Model(op, [tensor], [result(shape, y_type, y)], sets_of(rng, [tensor]), engine or legacy(row))


def micro(op):
    """A function that TensorFlow Lite Micro knows."""
    return lambda rng, row: elementwise(rng, row, op)


def fixed(op, by_type):
    """A function whose results always have one scale and zero point."""

    def draw(rng, row):
        y_scale, y_zero_point = by_type[row[-1]]
        dtype = DTYPES[row[0]]
        low, high = (-18, -10) if dtype == np.int16 else (-12, 1)
        x = quantized(rng, dtype, scale(rng, low, high))
        return elementwise(rng, row, op, x, Quantization.tensor(y_scale, y_zero_point))

    return draw


def real(op, function):
    """A function of real numbers, in single precision as LiteRT's tables are made.

    LiteRT has no int8 kernel for these, or none without its delegates: computed here.
    """

    def draw(rng, row):
        x = quantized(rng, DTYPES[row[0]], scale(rng, -7, 2))
        reals = function(x.scale[0] * np.arange(-255.0, 256.0))
        y = quantized(rng, DTYPES[row[-1]], near(rng, max(np.ptp(reals), 1e-3) / 255, 1.5))
        model = elementwise(rng, row, op, x, y)
        model.engine = None
        model.correct = partial(of_reals, function, x, y, DTYPES[row[-1]])
        return model

    return draw


def of_reals(function, x, y, dtype, sets, _):
    """Results of a function of real numbers."""
    inverse = np.float32(1) / np.float32(y.scale[0])

    def one(q):
        number = x.real(q).astype(np.float64)
        steps = function(number).astype(np.float32) * inverse
        steps = np.copysign(np.floor(np.abs(steps.astype(np.float64)) + 0.5), steps)
        return np.clip(steps + y.zero_point[0], *limits(dtype)).astype(dtype)

    return [[one(q)] for (q,) in sets]


def positive_numbers(rng, row):
    """A quantization of which no element is negative."""
    if row[0] == "i16":
        return Quantization.tensor(scale(rng, -18, -6), 0)
    return Quantization.tensor(scale(rng, -10, 2), limits(DTYPES[row[0]])[0])


def of_positive(op, engine):
    """A function of positive numbers."""

    def draw(rng, row):
        x = positive_numbers(rng, row)
        dtype = DTYPES[row[-1]]
        span = limits(dtype)[1] - x.zero_point[0]
        greatest = x.scale[0] * span
        like = {"LOG": np.log1p(greatest), "SQRT": math.sqrt(greatest), "RSQRT": x.scale[0] ** -0.5}
        y = quantized(rng, dtype, near(rng, like[op.name] / span))
        op_ = replace(op, version=3) if row[0] == "i16" and engine == MICRO else op
        model = elementwise(rng, row, op_, x, y, engine=engine)
        # 0 has no logarithm and no reciprocal.
        for inputs in model.sets:
            inputs[0] = np.maximum(inputs[0], x.zero_point[0] + 1).astype(inputs[0].dtype)
        return model

    return draw


def exponential(rng, row):
    dtype = DTYPES[row[0]]
    x = quantized(rng, dtype, scale(rng, *((-17, -12) if dtype == np.int16 else (-9, -4))))
    greatest = math.exp(x.scale[0] * (limits(dtype)[1] - x.zero_point[0]))
    y = quantized(rng, dtype, near(rng, greatest / np.ptp(limits(dtype))))
    return elementwise(rng, row, Op("EXP", None, 2), x, y, engine=LITERT)


def gelu(rng, row):
    op = Op("GELU", options(schema.GeluOptionsT, approximate=bool(rng.integers(2))), 2)
    low, high = (-17, -8) if row[0] == "i16" else (-9, 0)
    return elementwise(rng, row, op, quantized(rng, DTYPES[row[0]], scale(rng, low, high)), engine=LITERT)


def hard_swish(rng, row):
    x = quantized(rng, DTYPES[row[0]], scale(rng, -9, -1))
    y = quantized(rng, DTYPES[row[-1]], near(rng, x.scale[0], 1.5))
    return elementwise(rng, row, Op("HARD_SWISH", schema.HardSwishOptionsT()), x, y)


def negative(rng, row):
    """LiteRT negates the integers whatever their scales, tflite-micro knows no int8: computed."""
    model = elementwise(rng, row, Op("NEG"))
    (x,), (y,) = model.operands, model.results

    def correct(sets, _):
        ratio = x.quantization.scale[0] / y.quantization.scale[0]
        return [[rescaled(x.quantization.zero_point[0] - q.astype(np.int64), ratio, y)] for (q,) in sets]

    model.engine, model.correct = None, correct
    return model


def rescaled(differences, ratio, y, bounds=None):
    """Differences from a zero point on the scale of `y`, with two roundings."""
    low, high = limits(y.dtype)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    zero_point = y.quantization.zero_point[0]
    return np.clip(multiply(differences, ratio) + zero_point, low, high).astype(y.dtype)


def rectifier(name, low, high):
    """RELU6 and its like, computed.

    tflite-micro's RELU6 only clamps, whatever the scales (L1), and it has no other one;
    LiteRT divides the scales in single precision, and all of RELU in double. The rule is
    that of RELU: rescale with two roundings, then clamp.
    """

    def draw(rng, row):
        model = elementwise(rng, row, Op(name, None, 2 if name == "RELU6" else 1))
        (x,), (y,) = model.operands, model.results

        def bound(value, otherwise):
            q = y.quantization
            return otherwise if value is None else quantized_bound(value, q.scale[0], q.zero_point[0])

        bounds = bound(low, -(1 << 20)), bound(high, 1 << 20)
        ratio = x.quantization.scale[0] / y.quantization.scale[0]
        zero_point = x.quantization.zero_point[0]
        model.engine = None
        model.correct = lambda sets, _: [
            [rescaled(q.astype(np.int64) - zero_point, ratio, y, bounds)] for (q,) in sets
        ]
        return model

    return draw


def relu(rng, row):
    return elementwise(rng, row, Op("RELU", None, 2))


def leaky_relu(rng, row):
    alpha = float(rng.choice([0.0, 0.1, 1.0, 0.3, 2.5, -0.3, -2.0, rng.uniform(-2, 2)]))
    return elementwise(rng, row, Op("LEAKY_RELU", options(schema.LeakyReluOptionsT, alpha=alpha), 2))


def prelu(rng, row):
    dtype = DTYPES[row[0]]
    x = quantized(rng, dtype)
    alpha = quantized(rng, dtype, scale(rng, -12, -3))
    y = quantized(rng, dtype, near(rng, x.scale[0], 4))
    if dtype == np.int16:
        # Products of int16 reach 2^30: we refuse those that would be shifted to the left.
        y = Quantization.tensor(max(y.scale[0], 1.01 * x.scale[0] * alpha.scale[0]), 0)
    shape, other = broadcast_pair(rng)
    shape = tuple(np.broadcast_shapes(shape, other))
    tensor = Tensor("x", shape, dtype, x)
    factors = operand(rng, "alpha", other, dtype, alpha, constant=0.7)
    operands = [tensor, factors]
    model = Model(Op("PRELU"), operands, [result(shape, dtype, y)], sets_of(rng, operands), legacy(row))
    if dtype == np.int16:
        # tflite-micro has no int16, LiteRT's negative results have nothing to do with the operands.
        model.engine = None
        model.correct = lambda sets, _: [[two_factors(model, *arrays)] for arrays in sets]
    return model


def two_factors(model, x, alpha=None):
    """PRELU: a factor for each sign, two roundings each."""
    (p, q), (y,) = (operand.quantization for operand in model.operands), model.results
    x = x.astype(np.int64) - p.zero_point[0]
    products = x * ((model.operands[1].data if alpha is None else alpha).astype(np.int64) - q.zero_point[0])
    ratio = p.scale[0] / y.quantization.scale[0]
    return np.where(x >= 0, rescaled(x, ratio, y), rescaled(products, ratio * q.scale[0], y))


def quantize(rng, row):
    x_type, y_type = (DTYPES[name] for name in row)
    y = quantized(rng, y_type)
    shape = extents(rng, int(rng.integers(1, 5)))
    if x_type == np.float32:
        x = Tensor("x", shape, x_type)
        step = y.scale[0]
        low, high = limits(y_type)
        # Halves of a step, anything, and what is beyond either end.
        halves = (rng.integers(low - 9, high + 9, shape) + 0.5 - y.zero_point[0]) * step
        anything = rng.uniform(1.3 * low, 1.3 * high, shape) * step
        sets = [[np.float32(halves)], [np.float32(anything)]]
        return Model(Op("QUANTIZE", None, 2), [x], [result(shape, y_type, y)], sets, legacy(row))
    if y_type == np.int32:
        # Results of up to 30 bits: beyond 32, we refuse and the reference overflows. Like all
        # int32, they have zero point 0.
        y = Quantization.tensor(y.scale[0], 0)
        x = quantized(rng, x_type, near(rng, y.scale[0] * 2**24 / np.ptp(limits(x_type)), 5))
        return elementwise(rng, row, Op("QUANTIZE", None, 2), x, y)
    span = 2.0**31 if x_type == np.int32 else np.iinfo(x_type).max
    x = quantized(rng, x_type, near(rng, y.scale[0] * np.iinfo(y_type).max / span, 4))
    if x_type == np.int32:
        x = Quantization.tensor(x.scale[0], 0)
    return elementwise(rng, row, Op("QUANTIZE", None, 2), x, y)


def dequantize(rng, row):
    x = quantized(rng, DTYPES[row[0]])
    shape = extents(rng, int(rng.integers(1, 5)))
    tensor = Tensor("x", shape, DTYPES[row[0]], x)
    y = result(shape, np.float32)
    return Model(Op("DEQUANTIZE", None, 2), [tensor], [y], sets_of(rng, [tensor]), legacy(row))


def cast(rng, row):
    """Integers that stand for themselves."""
    x_type, y_type = (DTYPES[name] for name in row)
    shape = extents(rng, int(rng.integers(1, 5)))
    tensor = Tensor("x", shape, x_type)
    spread = 100 if x_type == np.float32 else None
    if spread is not None and y_type == np.int8:
        sets = [[np.float32(rng.uniform(-128.9, 127.9, shape))] for _ in range(2)]
    else:
        sets = [[values(rng, shape, x_type, None, spread)] for _ in range(2)]
    # Each reference has only some of the casts of uint32.
    engine = MICRO if set(row) == {"i16", "u32"} else LITERT
    return Model(Op("CAST"), [tensor], [result(shape, y_type)], sets, engine)


LIMITED = {"i8": (1 / 128, 0), "i16": (1 / 32768, 0), "u8": (1 / 128, 128)}
PROBABILITY = {"i8": (1 / 256, -128), "i16": (1 / 32768, 0), "u8": (1 / 256, 0)}
DRAWS = {
    "ABS": micro(Op("ABS", None, 2)),
    "CAST": cast,
    "CEIL": real(Op("CEIL"), np.ceil),
    "COS": real(Op("COS"), np.cos),
    "DEQUANTIZE": dequantize,
    "ELU": micro(Op("ELU")),
    "EXP": exponential,
    "FLOOR": real(Op("FLOOR"), np.floor),
    "GELU": gelu,
    "HARD_SWISH": hard_swish,
    "LEAKY_RELU": leaky_relu,
    "LOG": of_positive(Op("LOG", None, 2), LITERT),
    "LOGISTIC": fixed(Op("LOGISTIC", None, 2), PROBABILITY),
    "NEG": negative,
    "PRELU": prelu,
    "QUANTIZE": quantize,
    "RELU": relu,
    "RELU6": rectifier("RELU6", 0.0, 6.0),
    "RELU_0_TO_1": rectifier("RELU_0_TO_1", 0.0, 1.0),
    "RELU_N1_TO_1": rectifier("RELU_N1_TO_1", -1.0, 1.0),
    "ROUND": real(Op("ROUND"), np.round),
    "RSQRT": of_positive(Op("RSQRT", None, 2), MICRO),
    "SIN": real(Op("SIN"), np.sin),
    "SQRT": of_positive(Op("SQRT"), LITERT),
    "SQUARE": real(Op("SQUARE"), np.square),
    "TANH": fixed(Op("TANH", None, 2), LIMITED),
}
