"""BATCH_MATMUL and CONV_3D."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Activation, Bias, Case, Constant, Weights, cases
from families.convolution import window_options
from families.wide import case as wide_case
from families.wide import values
from tflite_file import Op, Quantization, Tensor, build

OTHER = Quantization.tensor(0.0171, 23)


def all_cases():
    yield from matmul("square", (1, 4, 4), (1, 4, 4))
    yield from matmul("rank2", (3, 7), (7, 19))
    yield from matmul("batch_of_heads", (2, 3, 5, 6), (2, 3, 6, 17))
    yield from matmul("adj_y", (2, 5, 37), (2, 3, 37), adj_y=True)
    yield from matmul("adj_x", (2, 6, 5), (2, 6, 18), adj_x=True)
    yield from matmul("adj_both", (3, 7, 2), (3, 5, 7), adj_x=True, adj_y=True)
    yield from matmul("broadcast_left", (2, 1, 3, 4), (2, 3, 4, 5))
    yield from matmul("broadcast_both", (2, 1, 2, 4), (1, 3, 4, 2))
    yield from matmul("broadcast_rank", (5, 3), (2, 2, 4, 3), adj_y=True)
    yield from matmul("one_column", (2, 3, 5), (2, 5, 1))
    yield from matmul("one_column_adj_x", (2, 5, 3), (2, 1, 5), adj_x=True, adj_y=True)
    yield from matmul("constant_right", (2, 3, 8), (8, 21), constant=1)
    yield from matmul("constant_right_adj_y", (2, 3, 4, 8), (1, 1, 5, 8), constant=1, adj_y=True)
    yield from matmul("constant_right_adj_x", (2, 8, 3), (8, 5), constant=1, adj_x=True)
    yield from matmul("constant_right_batch", (2, 3, 8), (2, 8, 5), constant=1)
    yield from matmul("constant_left", (4, 6), (2, 6, 5), constant=0)
    yield from known_faults()
    yield from wide()
    yield from volumes()


def matmul(name, a, b, *, adj_x=False, adj_y=False, constant=None):
    kinds = [Constant if position == constant else Activation for position in range(2)]
    operands = [kinds[0](a), kinds[1](b, OTHER)]
    what = f"{list(a)} by {list(b)}, " + ", ".join(
        [f"adj_x {adj_x}", f"adj_y {adj_y}"] + ([f"operand {constant} constant"] if constant is not None else [])
    )
    return cases(name, what, op(adj_x, adj_y, 4), operands)


def op(adj_x, adj_y, version):
    options = schema.BatchMatMulOptionsT()
    options.adjX, options.adjY = adj_x, adj_y
    return Op("BATCH_MATMUL", options, version)


def known_faults():
    """Known fault L10, both of its vectors."""
    a = [1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12]
    known = [74, 80, 86, 92, 173, 188, 203, 218, 272, 296, 320, 344, 371, 404, 437, 470]
    yield fault("l10", np.reshape(a, (2, 3, 2)), np.reshape(range(7, 19), (1, 3, 4)), known)
    known = [118, 134, 150, 140, 160, 180, 294, 342, 390, 316, 368, 420]
    known += [470, 550, 630, 492, 576, 660]
    yield fault("l10_second", np.reshape(range(1, 25), (3, 4, 2)), np.reshape(range(1, 13), (1, 4, 3)), known)


def fault(name, a, b, known):
    arrays = [array.astype(np.float32) for array in (a, b)]
    operands = [Tensor(f"x{i}", array.shape, np.float32) for i, array in enumerate(arrays)]
    shape = (a.shape[0], a.shape[2], b.shape[2])
    return Case(
        name=f"batch_matmul_f32_{name}",
        what="batch_matmul f32, known fault L10: adj_x and a right side for the whole batch",
        model=build(op(True, False, 1), operands, [Tensor("y", shape, np.float32)]),
        inputs=[meta_tensor(tensor.name, tensor.shape, "FLOAT32") for tensor in operands],
        outputs=[meta_tensor("y", shape, "FLOAT32")],
        sets=[arrays],
        engine="litert",
        known=[float(value) for value in known],
    )


def wide():
    rng = np.random.default_rng(4)
    a_scale, b_scale = Quantization.tensor(0.00031, 0), Quantization.tensor(0.00047, 0)
    for name, a, b, y, adj_x, adj_y in (
        ("batch", (2, 3, 6), (2, 6, 17), (2, 3, 17), False, False),
        ("adj_x", (2, 6, 3), (1, 6, 4), (2, 3, 4), True, False),
        ("adj_y", (3, 6), (2, 4, 6), (2, 3, 4), False, True),
    ):
        operands = [Tensor("x0", a, np.int16, a_scale), Tensor("x1", b, np.int16, b_scale)]
        extremes = [np.full(a, -32768, np.int16), np.full(b, 32767, np.int16)]
        sets = [[values(rng, a), values(rng, b)], extremes]
        result = Quantization.tensor(0.0031, 0)
        yield wide_case(f"batch_matmul_i16_{name}", op(adj_x, adj_y, 4), operands, y, result, sets)
    # 1024 products of 2^30 are more than 32 bits hold.
    operands = [Tensor("x0", (1, 1024), np.int16, a_scale), Tensor("x1", (1, 1024), np.int16, b_scale)]
    sets = [[np.full((1, 1024), value, np.int16) for value in (-32768, -32767)]]
    result = Quantization.tensor(0.0061, 0)
    yield wide_case("batch_matmul_i16_beyond_32_bits", op(False, True, 4), operands, (1, 1), result, sets)


def volumes():
    yield from volume("valid", (1, 4, 5, 6, 2), (2, 3, 3))
    yield from volume("same_stride", (1, 5, 4, 5, 3), (3, 2, 3), (2, 1, 2), padding="same", channels=17)
    yield from volume("same_dilation_relu", (2, 5, 5, 4, 1), (2, 2, 2), dilation=(2, 1, 2), padding="same", activation="relu")
    yield from volume("valid_dilation_relu6", (1, 5, 6, 4, 2), (2, 3, 2), dilation=(3, 2, 1), activation="relu6")
    yield from volume("no_bias_one_image", (1, 1, 4, 4, 3), (1, 2, 2), padding="same", bias=False)


def volume(
    name, x, kernel, stride=(1, 1, 1), dilation=(1, 1, 1), *, padding="valid", activation="none", channels=4, bias=True
):
    options = schema.Conv3DOptionsT()
    window_options(options, stride[1:], dilation[1:], padding, activation)
    options.strideD, options.dilationDFactor = stride[0], dilation[0]
    fan_in = int(np.prod(kernel)) * x[4]
    operands = [Activation(x), Weights((*kernel, x[4], channels), fan_in), *([Bias(channels)] if bias else [])]
    what = f"{list(x)}, kernel {kernel}, stride {stride}, dilation {dilation}, {padding}, {activation}"
    return cases(name, what, Op("CONV_3D", options), operands, kinds=("f32",))
