"""L2_NORMALIZATION, L2_POOL_2D, LOCAL_RESPONSE_NORMALIZATION, LOG_SOFTMAX."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import Activation, cases, exact
from families.reductions import case
from tflite_file import Op, Quantization, Tensor

NORMAL = Quantization.tensor(1 / 128, 0)
LOGARITHM = Quantization.tensor(16 / 256, 127)


def all_cases():
    yield from l2_normalization_cases()
    yield from l2_pool_cases()
    yield from response_cases()
    yield from log_softmax_cases()


def l2_normalization_cases():
    op = Op("L2_NORMALIZATION", schema.L2NormOptionsT(), 2)
    for name, shape, quantization in (
        ("vector", (19,), Quantization.tensor(0.1, 0)),
        ("rows", (4, 7), Quantization.tensor(0.0235, -11)),
        ("images", (2, 3, 2, 5), Quantization.tensor(0.0235, -128)),
        ("long_rows", (2, 300), Quantization.tensor(0.1, 127)),
    ):
        yield from cases(name, f"{shape}", op, [Activation(shape, quantization)], output=NORMAL)
    small = [0, 0, 0, 1, 0, 0, 1, 1, 1, -1, 2, 0]
    near_zero = Activation((4, 3), Quantization.tensor(0.1, 0), tuple(small))
    yield from cases("near_zero", "(4, 3)", op, [near_zero], output=NORMAL)
    x = np.random.default_rng(17).integers(0, 256, (6, 9)).astype(np.uint8)
    x[4], x[5] = 120, [120, 121, 119, 120, 120, 120, 120, 123, 120]
    yield case(
        "l2_normalization_u8_rows",
        "(6, 9)",
        Op("L2_NORMALIZATION", schema.L2NormOptionsT()),
        [Tensor("x", x.shape, np.uint8, Quantization.tensor(0.1, 120))],
        [Tensor("y", x.shape, np.uint8, Quantization.tensor(1 / 128, 128))],
        [[x]],
        engine="litert",
    )


def l2_pool_cases():
    def pool(name, shape, window, stride, padding, activation=schema.ActivationFunctionType.NONE):
        options = schema.Pool2DOptionsT()
        options.filterHeight, options.filterWidth = window
        options.strideH, options.strideW = stride
        options.padding, options.fusedActivationFunction = padding, activation
        op = Op("L2_POOL_2D", options)
        return cases(name, f"{shape} window {window}", op, [Activation(shape)], kinds=("f32",))

    same, valid = schema.Padding.SAME, schema.Padding.VALID
    yield from pool("same", (2, 5, 4, 3), (3, 3), (2, 1), same)
    yield from pool("valid", (1, 5, 7, 9), (2, 3), (1, 2), valid)
    yield from pool("relu6", (1, 4, 4, 2), (2, 2), (2, 2), valid, schema.ActivationFunctionType.RELU6)


def response_cases():
    """LiteRT's reference kernel leaves the last element of each sum out; its optimized one does not."""
    rng = np.random.default_rng(19)
    for name, shape, radius, bias, alpha, beta in (
        ("channels", (1, 2, 3, 7), 2, 1.0, 0.5, 0.75),
        ("beyond_the_row", (1, 1, 2, 5), 9, 2.0, 0.01, 0.5),
        ("itself", (1, 3, 1, 4), 0, 0.5, 1.0, 1.0),
    ):
        options = schema.LocalResponseNormalizationOptionsT()
        options.radius, options.bias, options.alpha, options.beta = radius, bias, alpha, beta
        x = rng.normal(0, 2, shape).astype(np.float32)
        squares = np.square(x.astype(np.float64))
        around = [squares[..., max(0, i - radius) : i + radius + 1].sum(axis=-1) for i in range(shape[-1])]
        y = x * (bias + np.float32(alpha).astype(np.float64) * np.stack(around, axis=-1)) ** -beta
        yield case(
            f"local_response_normalization_f32_{name}",
            f"{shape} radius {radius}",
            Op("LOCAL_RESPONSE_NORMALIZATION", options),
            [Tensor("x", shape, np.float32)],
            [Tensor("y", shape, np.float32)],
            [[x]],
            expected=[[y.astype(np.float32)]],
            expected_from="the definition of tf.nn.local_response_normalization, in float64",
        )


def log_softmax_cases():
    op = Op("LOG_SOFTMAX", schema.LogSoftmaxOptionsT(), 2)
    for name, shape, scale in (
        ("rows", (5, 10), 0.1),
        ("images", (1, 3, 2, 4), 0.0235),
        ("long_rows", (2, 300), 0.003),
        ("coarse", (6, 5), 3.0),
        ("one", (3, 1), 0.1),
    ):
        operands = [Activation(shape, Quantization.tensor(scale, 7))]
        yield from cases(name, f"{shape}", op, operands, output=LOGARITHM)
    infinite = np.array([[1, -np.inf, 0]], np.float32)
    yield exact("minus_infinity", op, [infinite])
