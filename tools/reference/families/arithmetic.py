"""SUB, MUL, DIV, MINIMUM, MAXIMUM, SQUARED_DIFFERENCE, POW, FLOOR_DIV and FLOOR_MOD."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Constant, cases, exact
from engines import TFLITE_MICRO, run_tflite_micro
from fixed_point import overflowing_quotients
from tflite_file import Op, Quantization

LEFT, RIGHT = Quantization.tensor(0.0235, -11), Quantization.tensor(0.041, 17)
IMAGE = (1, 3, 4, 5)


def all_cases():
    yield from scaled_cases()
    yield from lesser_and_greater_cases()
    yield from float_cases()
    yield from integer_cases()


def options(kind, activation="none"):
    result = kind()
    if hasattr(result, "fusedActivationFunction"):
        result.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation.upper())
    return result


def scaled_cases():
    """int8 results are computed from the real values."""
    kinds = {
        "SUB": schema.SubOptionsT,
        "MUL": schema.MulOptionsT,
        "SQUARED_DIFFERENCE": schema.SquaredDifferenceOptionsT,
    }
    for op, kind in kinds.items():

        def binary(name, a, b, activation="none", **extra):
            what = f"{list(a.shape)} {list(b.shape)}, {activation}"
            return cases(name, what, Op(op, options(kind, activation)), [a, b], **extra)

        yield from binary("same_shape", Activation(IMAGE, LEFT), Activation(IMAGE, RIGHT))
        yield from binary("channel_vector", Activation(IMAGE, RIGHT), Constant((5,), LEFT))
        yield from binary("row_and_column", Activation((3, 1), LEFT), Activation((1, 4), RIGHT))
        coarse = Quantization.tensor(0.9, -100)
        yield from binary("coarse", Activation(IMAGE, coarse), Activation(IMAGE, RIGHT), kinds=("i8",))
        if op != "SQUARED_DIFFERENCE":
            yield from binary("relu6", Activation(IMAGE, LEFT), Activation(IMAGE, RIGHT), "relu6")

    # Divisors that are not 0, of either sign.
    divisors = tuple(q for q in (-128, -90, -12, 16, 18, 19, 22, 60, 90, 127) * 6)
    for name, activation, output in (
        ("same_shape", "none", Quantization.tensor(0.1, 5)),
        ("relu", "relu", Quantization.tensor(0.02, -100)),
        ("fine", "none", Quantization.tensor(0.004, 0)),
    ):
        op = Op("DIV", options(schema.DivOptionsT, activation))
        operands = [Activation(IMAGE, LEFT), Activation(IMAGE, RIGHT, divisors)]
        for case in cases(name, f"{list(IMAGE)}, {activation}", op, operands, output=output):
            yield case if case.engine == "litert" else quotients_without_overflow(case, LEFT, RIGHT, output)
    # The factor is 4, but for what single precision loses: 3.9999999.
    a, b = Quantization.tensor(0.14554283022880554, -78), Quantization.tensor(0.31925418972969055, -112)
    output = Quantization.tensor(0.11397096514701843, -4)
    operands = [Activation(IMAGE, a, (*range(-128, -98), *range(28, 58))), Activation(IMAGE, b, (-128, 127, 60) * 20)]
    op = Op("DIV", options(schema.DivOptionsT))
    for case in cases("factor_in_double", f"{list(IMAGE)}", op, operands, output=output, kinds=("i8",)):
        yield quotients_without_overflow(case, a, b, output)


def quotients_without_overflow(case, a_quantization, b_quantization, output):
    """The zero point where a quotient is so small that tflite-micro gives anything."""
    factor = a_quantization.scale[0] / (b_quantization.scale[0] * output.scale[0])
    case.expected = []
    for (a, b), (y,) in zip(case.sets, run_tflite_micro(case.model, case.sets), strict=True):
        differences = a.astype(int) - a_quantization.zero_point[0], b.astype(int) - b_quantization.zero_point[0]
        overflows = overflowing_quotients(*differences, factor)
        case.expected.append([np.where(overflows, np.int8(output.zero_point[0]), y)])
    case.expected_from = f"{TFLITE_MICRO}, but the zero point where it shifts by more than 31"
    return case


def lesser_and_greater_cases():
    for name in "MINIMUM", "MAXIMUM":
        op = Op(name, schema.MaximumMinimumOptionsT())
        same = Activation(IMAGE, LEFT)
        yield from cases("same_shape", f"{list(IMAGE)}", op, [same, same], output="same")
        yield from cases("constant", f"{list(IMAGE)} []", op, [same, Constant((), LEFT, (3,))], output="same")
        column = [Activation((3, 1), LEFT), Activation((1, 4), LEFT)]
        yield from cases("row_and_column", "[3, 1] [1, 4]", op, column, output="same")


def float_cases():
    a = np.array([7, -7, 7, -7, 0.3, 6, -6, 1e-3], np.float32).reshape(2, 4)
    b = np.array([2.5, 2.5, -2.5, -2.5, 0.1, 2, 3, -0.7], np.float32).reshape(2, 4)
    for name, kind in ("FLOOR_DIV", schema.FloorDivOptionsT), ("FLOOR_MOD", schema.FloorModOptionsT):
        yield exact("same_shape", Op(name, kind()), [a, b])
        yield exact("scalar", Op(name, kind()), [a], constants={1: np.float32(-0.75)})
    exponents = np.array([2, 3, -1, 0, 0.5, -2.5, 4, 1 / 3], np.float32).reshape(2, 4)
    yield exact("same_shape", Op("POW", schema.PowOptionsT()), [np.abs(a), exponents])
    yield exact("square", Op("POW", schema.PowOptionsT()), [a], constants={1: np.float32(2)})


def integer_cases():
    """Integers that stand for themselves, as in the arithmetic of shapes."""
    a = np.array([7, -7, 7, -7, 6, 100_000, 0, 1], np.int32).reshape(2, 4)
    b = np.array([2, 2, -2, -2, 3, 7, 5, -3], np.int32).reshape(2, 4)
    kinds = {
        "ADD": schema.AddOptionsT,
        "SUB": schema.SubOptionsT,
        "MUL": schema.MulOptionsT,
        "DIV": schema.DivOptionsT,
        "MINIMUM": schema.MaximumMinimumOptionsT,
        "MAXIMUM": schema.MaximumMinimumOptionsT,
        "FLOOR_DIV": schema.FloorDivOptionsT,
        "FLOOR_MOD": schema.FloorModOptionsT,
    }
    for name, kind in kinds.items():
        yield exact("integers", Op(name, options(kind)), [a, b])
