"""uint8 models: activations and weights with one scale and zero point each.

TensorFlow Lite Micro does not run them; the expected values are LiteRT's.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from families.convolution import window_options
from tflite_file import Op, Quantization, Tensor, build

X = Quantization.tensor(0.0235, 117)
WEIGHTS = Quantization.tensor(0.0117, 133)


def all_cases():
    convolution = conv_2d((2, 2), "relu6")
    yield legacy("conv_2d", "same_stride2_relu6", convolution, (1, 5, 6, 3), (1, 3, 3, 4), (4, 3, 3, 3))
    yield legacy("conv_2d", "1x1_batch2", conv_2d((1, 1)), (2, 3, 3, 7), (2, 3, 3, 17), (17, 1, 1, 7))
    channels = depthwise(2)
    yield legacy("depthwise_conv_2d", "multiplier2", channels, (1, 5, 6, 9), (1, 5, 6, 18), (1, 3, 3, 18))
    channels = depthwise(1, "relu")
    yield legacy("depthwise_conv_2d", "relu", channels, (1, 4, 4, 17), (1, 4, 4, 17), (1, 3, 3, 17))
    dense = Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT())
    yield legacy("fully_connected", "batch2", dense, (2, 33), (2, 5), (5, 33))
    # Sums of 4 and 9 cells: ties are frequent, and round up.
    for name, kernel in ("ties", (2, 2)), ("ties_3x3", (3, 3)):
        result = (1, 6 // kernel[0], 6 // kernel[1], 5)
        yield unary("average_pool_2d", name, Op("AVERAGE_POOL_2D", pool(kernel)), (1, 6, 6, 5), result)
    yield unary("softmax", "rows", softmax(), (3, 11), (3, 11), Quantization.tensor(1 / 256, 0))
    yield sum_of_two()
    yield padded()


def legacy(operator, name, op, shape, result, weights):
    """A layer with weights, whose results fill the range."""
    rng = np.random.default_rng(len(name) + 7 * len(operator))
    axis = 3 if operator.startswith("depthwise") else 0
    scale = Quantization.tensor(X.scale[0] * WEIGHTS.scale[0], 0)
    bias = rng.integers(-2000, 2000, weights[axis], np.int32)
    y = Quantization.tensor(0.0471 if "relu6" not in name else 6 / 255, 101 if "relu" not in name else 0)
    operands = [
        Tensor("x", shape, np.uint8, X),
        Tensor("weights", weights, np.uint8, WEIGHTS, rng.integers(0, 256, weights, np.uint8)),
        Tensor("bias", bias.shape, np.int32, scale, bias),
    ]
    return case(operator, name, op, operands, result, y, [values(rng, shape)])


def unary(operator, name, op, shape, result, y=X):
    rng = np.random.default_rng(len(name))
    return case(operator, name, op, [Tensor("x", shape, np.uint8, X)], result, y, [values(rng, shape)])


def sum_of_two():
    options, shape, rng = schema.AddOptionsT(), (1, 4, 5, 3), np.random.default_rng(9)
    operands = [Tensor("x0", shape, np.uint8, X), Tensor("x1", shape, np.uint8, Quantization.tensor(0.041, 3))]
    y = Quantization.tensor(0.055, 60)
    return case("add", "scales", Op("ADD", options), operands, shape, y, [values(rng, shape), values(rng, shape)])


def padded():
    shape, rng = (2, 3), np.random.default_rng(10)
    value, paddings = np.array(250, np.uint8), np.array([[1, 0], [0, 2]], np.int32)
    operands = [
        Tensor("x", shape, np.uint8, X),
        Tensor("paddings", (2, 2), np.int32, None, paddings),
        Tensor("value", (), np.uint8, X, value),
    ]
    op = Op("PADV2", schema.PadV2OptionsT())
    return case("padv2", "value", op, operands, (3, 5), X, [values(rng, shape)])


def case(operator, name, op, operands, result, y, inputs):
    given = [operand for operand in operands if operand.data is None]
    return Case(
        name=f"{operator}_u8_{name}",
        what=f"{operator} uint8 {name.replace('_', ' ')}",
        model=build(op, operands, [Tensor("y", result, np.uint8, y)]),
        inputs=[meta(x.name, x.shape, x.quantization) for x in given],
        outputs=[meta("y", result, y)],
        sets=[inputs],
        engine="litert",
    )


def values(rng, shape):
    return rng.integers(0, 256, shape, np.uint8)


def meta(name, shape, quantization):
    return meta_tensor(name, shape, "UINT8", quantization.scale[0], quantization.zero_point[0])


def conv_2d(stride, activation="none"):
    options = schema.Conv2DOptionsT()
    window_options(options, stride, (1, 1), "same", activation)
    return Op("CONV_2D", options)


def depthwise(multiplier, activation="none"):
    options = schema.DepthwiseConv2DOptionsT()
    window_options(options, (1, 1), (1, 1), "same", activation)
    options.depthMultiplier = multiplier
    return Op("DEPTHWISE_CONV_2D", options)


def pool(kernel):
    options = schema.Pool2DOptionsT()
    options.filterHeight, options.filterWidth = options.strideH, options.strideW = kernel
    options.padding = schema.Padding.VALID
    return options


def softmax():
    options = schema.SoftmaxOptionsT()
    options.beta = 1.0
    return Op("SOFTMAX", options)
