"""int16 activations of operators without weights.

Expected values come from TensorFlow Lite Micro, or from LiteRT where the former does not
know the type. What either computes without the scales is computed here.
"""

from dataclasses import replace

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import Case
from casefiles import tensor as meta_tensor
from families import wide
from families.logic import COMPARISONS
from fixed_point import multiply, quantized_bound
from tflite_file import Op, Quantization, Tensor, build

POWER, USUAL = Quantization.tensor(1 / 4096, 0), Quantization.tensor(0.00031, 0)
FINE, COARSE = Quantization.tensor(0.00007, 0), Quantization.tensor(0.0021, 0)
TO_ONE = Quantization.tensor(1 / 32768, 0)
IMAGE = (1, 3, 4, 5)
LIMITS = (-32768, 32767)


def all_cases():
    yield from one_operand()
    yield from rescaled()
    yield from padded()
    yield from rectifiers()
    yield from negated()
    yield from softmax()
    yield from two_operands()
    yield from prelu()
    yield from comparisons()
    yield from pools()


def numbers(seed, least=-32768):
    """Both ends, what is next to 0, and others."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(least, 32768, 387)
    ends = [least, least + 1, max(least, -129), max(least, -128), max(least, -1), 0, 1, 2, 127, 128, 129, 32766, 32767]
    return np.concatenate([ends, drawn]).astype(np.int16).reshape(4, 100)


def one(name, op, x, before, after, engine="micro"):
    operands = [Tensor("x", x.shape, np.int16, before)]
    return replace(wide.case(name, op, operands, x.shape, after, [[x]]), engine=engine)


def one_operand():
    gelu = schema.GeluOptionsT()
    gelu.approximate = True
    pairs = {"usual": (USUAL, COARSE), "finer": (USUAL, FINE), "kept": (POWER, POWER)}
    for name, (before, after) in pairs.items():
        x, positive = numbers(1), numbers(2, 0)
        yield one(f"abs_i16_{name}", Op("ABS", None, 3), x, before, after)
        yield one(f"exp_i16_{name}", Op("EXP", None, 2), x, before, after, "litert")
        yield one(f"gelu_i16_{name}", Op("GELU", schema.GeluOptionsT(), 2), x, before, after, "litert")
        yield one(f"gelu_i16_approximate_{name}", Op("GELU", gelu, 2), x, before, after, "litert")
        yield one(f"log_i16_{name}", Op("LOG", None, 2), x, before, after, "litert")
        yield one(f"rsqrt_i16_{name}", Op("RSQRT", None, 3), positive, before, after)
        yield one(f"sqrt_i16_{name}", Op("SQRT", None, 2), positive, before, after, "litert")
    # Powers of two are multiplied exactly; 1/2048 only by TANH.
    for name, scale in ("usual", 0.00031), ("4096th", 1 / 4096), ("2048th", 1 / 2048), ("fine", 1e-5), ("coarse", 2.9):
        before = Quantization.tensor(scale, 0)
        x = numbers(3) // (1 if scale < 1 else 2048)
        yield one(f"logistic_i16_{name}", Op("LOGISTIC", None, 3), x, before, TO_ONE)
        yield one(f"tanh_i16_{name}", Op("TANH", None, 3), x, before, TO_ONE)


def rescaled():
    x = np.concatenate([[-(1 << 30), -1, 0, 1, 1 << 30], np.random.default_rng(9).integers(-(1 << 16), 1 << 16, 95)])
    operands = [Tensor("x", x.shape, np.int32, Quantization.tensor(0.0004, 0))]
    y, sets = Quantization.tensor(0.11, -7), [[x.astype(np.int32)]]
    yield wide.case("quantize_i32_i8", Op("QUANTIZE", None, 3), operands, x.shape, y, sets, dtype=np.int8)


def padded():
    """The added element is 0, or stated; or elements are repeated."""
    rng = np.random.default_rng(10)
    x, paddings = wide.values(rng, (2, 3, 2)), np.array([[0, 1], [2, 0], [1, 1]], np.int32)
    operands = [Tensor("x", x.shape, np.int16, USUAL), Tensor("paddings", paddings.shape, np.int32, None, paddings)]
    value = Tensor("value", (), np.int16, USUAL, np.int16(-12_345))
    yield wide.case("padv2_i16", Op("PADV2", schema.PadV2OptionsT(), 2), [*operands, value], (3, 5, 4), USUAL, [[x]])
    options = schema.MirrorPadOptionsT()
    options.mode = schema.MirrorPadMode.REFLECT
    case = wide.case("mirror_pad_i16", Op("MIRROR_PAD", options, 2), operands, (3, 5, 4), USUAL, [[x]])
    yield replace(case, engine="litert")


def rectifiers():
    yield one("relu_i16_kept", Op("RELU", None, 3), numbers(4), POWER, POWER)
    yield one("relu_i16_coarser", Op("RELU", None, 3), numbers(4), USUAL, COARSE)
    # tflite-micro clamps without rescaling, as it does in int8 (known fault L1).
    yield one("relu6_i16_coarser", Op("RELU6", None, 3), numbers(5), USUAL, COARSE, "litert")
    case = one("relu_n1_to_1_i16_finer", Op("RELU_N1_TO_1"), numbers(6), POWER, USUAL)
    ((x,),) = case.sets
    limits = [quantized_bound(limit, USUAL.scale[0], 0) for limit in (-1.0, 1.0)]
    y = np.clip(multiply(x, POWER.scale[0] / USUAL.scale[0]), *limits).astype(np.int16)
    yield computed(case, y, "rescale with two roundings, then clamp (no reference has the type)")


def negated():
    """LiteRT negates int16 without its scales; tflite-micro has no int16 NEG."""
    case = one("neg_i16_finer", Op("NEG"), numbers(7), USUAL, POWER)
    ((x,),) = case.sets
    y = multiply(-x.astype(np.int64), USUAL.scale[0] / POWER.scale[0])
    yield computed(case, limited(y), "rescale with two roundings (LiteRT negates the integers as they are)")


def computed(case, y, how):
    return replace(case, expected=[[y]], expected_from=f"computed: {how}")


def limited(y):
    return np.clip(y, *LIMITS).astype(np.int16)


def softmax():
    rng = np.random.default_rng(8)
    for name, shape, scale, beta in (
        ("rows", (5, 7), 1 / 4096, 1.0),
        ("beta_half", (2, 3, 10), 0.002, 0.5),
        ("fine", (3, 20), 1e-5, 2.0),
        ("one_class", (3, 1), 0.0003, 1.0),
        ("classes_300", (1, 300), 0.0003, 1.0),
        ("coarse", (4, 10), 0.0117, 1.0),
    ):
        x = rng.integers(-32768, 32768, shape).astype(np.int16)
        yield one(f"softmax_i16_{name}", softmax_op(beta), x, Quantization.tensor(scale, 0), TO_ONE)
    for name, shape, scale in ("rows", (5, 7), 0.05), ("classes_600", (1, 600), 0.01), ("all_equal", (1, 300), 0.05):
        x = np.full(shape, 7, np.int8) if name == "all_equal" else rng.integers(-128, 128, shape).astype(np.int8)
        operands = [Tensor("x", x.shape, np.int8, Quantization.tensor(scale, 4))]
        y = Quantization.tensor(1 / 65536, -32768)
        yield wide.case(f"softmax_i8_to_i16_{name}", softmax_op(1.0), operands, x.shape, y, [[x]])


def softmax_op(beta):
    options = schema.SoftmaxOptionsT()
    options.beta = beta
    return Op("SOFTMAX", options, 3)


def two(name, op, shapes, quantizations, y, seed, result=IMAGE):
    """The first set is any numbers, the second one consists of extremes."""
    rng = np.random.default_rng(seed)
    operands = [Tensor(f"x{i}", shape, np.int16, q) for i, (shape, q) in enumerate(zip(shapes, quantizations))]
    extremes = np.array([*LIMITS, 0], np.int16)
    sets = [[wide.values(rng, shape) for shape in shapes], [rng.choice(extremes, shape) for shape in shapes]]
    return wide.case(name, op, operands, result, y, sets)


def two_operands():
    both, scales = [IMAGE, IMAGE], [USUAL, POWER]
    yield two("add_i16_powers_of_two", Op("ADD", sum_options(schema.AddOptionsT, pot=True), 2), both, [POWER] * 2, POWER, 20)
    sub = Op("SUB", sum_options(schema.SubOptionsT), 2)
    yield two("sub_i16_same_shape", sub, both, scales, COARSE, 21)
    yield two("sub_i16_channel_vector", sub, [IMAGE, (5,)], [FINE, USUAL], USUAL, 22)
    relu6 = Op("SUB", sum_options(schema.SubOptionsT, activation="RELU6"), 2)
    yield two("sub_i16_relu6", relu6, both, scales, COARSE, 23)
    powers = Op("SUB", sum_options(schema.SubOptionsT, pot=True), 5)
    yield two("sub_i16_powers_of_two", powers, both, [POWER] * 2, POWER, 24)
    mul = Op("MUL", schema.MulOptionsT(), 4)
    yield two("mul_i16_same_shape", mul, both, scales, Quantization.tensor(0.0031, 0), 25)
    yield two("mul_i16_row_and_column", mul, [(3, 1), (1, 4)], [POWER, POWER], POWER, 26, (3, 4))
    options = schema.MulOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.RELU_N1_TO_1
    yield two("mul_i16_relu_n1_to_1", Op("MUL", options, 4), both, scales, FINE, 27)
    squared = Op("SQUARED_DIFFERENCE", schema.SquaredDifferenceOptionsT(), 2)
    yield two("squared_difference_i16_same_shape", squared, both, scales, COARSE, 28)
    yield two("squared_difference_i16_channel_vector", squared, [IMAGE, (5,)], [FINE, USUAL], COARSE, 29)
    for operator in "MINIMUM", "MAXIMUM":
        op = Op(operator, schema.MaximumMinimumOptionsT(), 4)
        yield two(f"{operator.lower()}_i16_same_shape", op, both, [USUAL] * 2, USUAL, 30)
        yield two(f"{operator.lower()}_i16_row_and_column", op, [(3, 1), (1, 4)], [USUAL] * 2, USUAL, 31, (3, 4))


def sum_options(kind, activation="NONE", pot=False):
    options = kind()
    options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation)
    options.potScaleInt16 = pot
    return options


def prelu():
    """LiteRT's int16 results have nothing to do with the operands where they are negative."""
    alpha = np.array([-32768, -5000, 0, 9000, 32767], np.int16)
    rng = np.random.default_rng(33)
    x = rng.integers(-32768, 32768, IMAGE).astype(np.int16)
    operands = [Tensor("x", IMAGE, np.int16, USUAL), Tensor("alpha", alpha.shape, np.int16, TO_ONE, alpha)]
    case = wide.case("prelu_i16_channels", Op("PRELU"), operands, IMAGE, POWER, [[x]])
    ratio = USUAL.scale[0] / POWER.scale[0]
    negative = multiply(x.astype(np.int64) * alpha, USUAL.scale[0] * TO_ONE.scale[0] / POWER.scale[0])
    y = limited(np.where(x >= 0, multiply(x, ratio), negative))
    yield computed(case, y, "two factors, two roundings each")


def comparisons():
    rng = np.random.default_rng(34)
    a = rng.integers(-32768, 32768, (4, 25)).astype(np.int16)
    b = np.clip(a.astype(int) + rng.integers(-1, 2, a.shape), *LIMITS).astype(np.int16)
    for name, kind in COMPARISONS.items():
        operands = [Tensor("x0", a.shape, np.int16, USUAL), Tensor("x1", a.shape, np.int16, USUAL)]
        case = Case(
            name=f"{name.lower()}_i16_same_scale",
            what=f"{name.lower()} of int16 of one scale",
            model=build(Op(name, kind(), 2), operands, [Tensor("y", a.shape, np.bool_)]),
            inputs=[wide.meta(x.name, x.shape, x.dtype, x.quantization) for x in operands],
            outputs=[meta_tensor("y", a.shape, "BOOL")],
            sets=[[a, b]],
            engine="litert",
        )
        if name in ("EQUAL", "NOT_EQUAL"):
            # LiteRT rescales these, and finds numbers equal that are next to each other.
            y = (a == b) if name == "EQUAL" else (a != b)
            case = computed(case, y, "the integers compared, which have one scale")
        yield case


def pools():
    rng = np.random.default_rng(35)
    for operator in "AVERAGE_POOL_2D", "MAX_POOL_2D":
        for name, shape, window, stride, padding, activation, result in (
            ("batch2", (2, 4, 6, 3), (2, 3), (2, 3), "VALID", "NONE", (2, 2, 2, 3)),
            ("same_3x3", (1, 5, 6, 9), (3, 3), (2, 2), "SAME", "NONE", (1, 3, 3, 9)),
            ("whole_image", (1, 5, 7, 4), (5, 7), (1, 1), "VALID", "NONE", (1, 1, 1, 4)),
            ("relu6", (1, 4, 4, 5), (2, 2), (1, 1), "VALID", "RELU6", (1, 3, 3, 5)),
        ):
            options = schema.Pool2DOptionsT()
            (options.filterHeight, options.filterWidth), (options.strideH, options.strideW) = window, stride
            options.padding = getattr(schema.Padding, padding)
            options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation)
            sets = [[wide.values(rng, shape)], [rng.choice(np.array([*LIMITS, 0], np.int16), shape)]]
            operands = [Tensor("x", shape, np.int16, USUAL)]
            case = f"{operator.lower()}_i16_{name}"
            yield wide.case(case, Op(operator, options, 3), operands, result, USUAL, sets)
