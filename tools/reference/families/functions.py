"""Functions of one element: ABS, EXP, TANH, LEAKY_RELU, PRELU, HARD_SWISH, GELU and their like."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import INT8_RANGE, Activation, Case, Constant, cases, exact, int8_meta
from families.elementwise import EVERY_INT8
from fixed_point import multiply
from tflite_file import Op, Quantization, Tensor, build

USUAL, WIDE, FINE = Quantization.tensor(0.0235, -11), Quantization.tensor(0.09, 30), Quantization.tensor(0.004, 5)
POSITIVE = Quantization.tensor(0.0235, -128)
LIMITED = Quantization.tensor(1 / 128, 0)


def all_cases():
    yield from float_cases()
    yield from table_cases()
    yield negated()
    yield from leaky_relu_cases()
    yield from prelu_cases()


def gelu(approximate):
    options = schema.GeluOptionsT()
    options.approximate = approximate
    return Op("GELU", options, 2)


def float_cases():
    """All functions, on numbers for which they have a result."""
    numbers = np.array([-7.5, -3, -1.25, -0.5, -1e-3, 0, 0.25, 0.5, 1.5, 2.5, 3, 20], np.float32).reshape(3, 4)
    for name in "ABS", "COS", "EXP", "FLOOR", "HARD_SWISH", "NEG", "SIN", "SQUARE", "TANH":
        yield exact("numbers", Op(name), [numbers])
    for name in "CEIL", "ELU", "ROUND":  # LiteRT has no reference kernel for them
        yield exact("numbers", Op(name), [numbers], shape=numbers.shape, engine="micro")
    for name in "LOG", "RSQRT", "SQRT":
        yield exact("numbers", Op(name), [np.abs(numbers) + np.float32(0.1)])
    yield exact("numbers", gelu(False), [numbers])
    yield exact("approximate", gelu(True), [numbers])
    yield exact("numbers", Op("RELU_0_TO_1"), [numbers])


def table_cases():
    """int8: every value, for several scales."""
    litert = {"engine": "litert"}
    pairs = {"usual": (USUAL, WIDE), "finer": (WIDE, FINE), "kept": (FINE, FINE)}
    for name, (before, after) in pairs.items():
        yield from every("ABS", Op("ABS", None, 2), name, before, after)
        yield from every("ELU", Op("ELU"), name, before, after)
        yield from every("EXP", Op("EXP", None, 2), name, before, after, **litert)
        yield from every("GELU", gelu(False), name, before, after, **litert)
        yield from every("GELU", gelu(True), f"approximate_{name}", before, after, **litert)
        yield from every("HARD_SWISH", Op("HARD_SWISH", schema.HardSwishOptionsT()), name, before, after)
        yield from every("TANH", Op("TANH", None, 2), name, before, LIMITED)
        positive = Quantization.tensor(before.scale[0], -128)
        yield from every("LOG", Op("LOG", None, 2), name, positive, after, **litert)
        yield from every("RSQRT", Op("RSQRT", None, 2), name, positive, after)
        yield from every("SQRT", Op("SQRT"), name, positive, after, **litert)
    # 5.375 is so near its own result that it matters how that is computed.
    before, after = Quantization.tensor(0.125, -95), Quantization.tensor(0.25, 19)
    yield from every("GELU", gelu(False), "near_x", before, after, **litert)
    # The fixed point root is a little off: 27 where real numbers give 26.
    before = Quantization.tensor(0.006843786686658859, -128)
    after = Quantization.tensor(0.09480725973844528, -101)
    yield from every("RSQRT", Op("RSQRT", None, 2), "root_in_fixed_point", before, after)
    yield from every("RELU_0_TO_1", Op("RELU_0_TO_1"), "kept", FINE, FINE, **litert)


def every(name, op, case, before, after, **extra):
    x = np.array(EVERY_INT8, np.int8).reshape(1, 256)
    what = f"{before.scale[0]:.4g} {before.zero_point[0]} -> {after.scale[0]:.4g} {after.zero_point[0]}"
    yield Case(
        name=f"{name.lower()}_i8_every_value_{case}",
        what=f"{name.lower()} i8 {what}",
        model=build(op, [Tensor("x0", x.shape, np.int8, before)], [Tensor("y", x.shape, np.int8, after)]),
        inputs=[int8_meta("x0", x.shape, before)],
        outputs=[int8_meta("y", x.shape, after)],
        sets=[[x]],
        **extra,
    )


def negated():
    """LiteRT negates int8 without its scales and zero points; tflite-micro has no int8 NEG."""
    (case,) = every("NEG", Op("NEG"), "rescaled", WIDE, USUAL)
    ((x,),) = case.sets
    y = multiply(WIDE.zero_point[0] - x.astype(np.int64), WIDE.scale[0] / USUAL.scale[0])
    case.expected = [[np.clip(y + USUAL.zero_point[0], *INT8_RANGE).astype(np.int8)]]
    case.expected_from = "computed: rescale with two roundings (LiteRT negates the integers as they are)"
    return case


def leaky_relu_cases():
    def leaky(alpha):
        options = schema.LeakyReluOptionsT()
        options.alpha = alpha
        return Op("LEAKY_RELU", options, 2)

    for name, alpha in ("0_1", 0.1), ("2_5", 2.5), ("negative", -0.3):
        yield from every("LEAKY_RELU", leaky(alpha), f"alpha_{name}", USUAL, WIDE)
        yield from cases(f"alpha_{name}", f"alpha {alpha}", leaky(alpha), [Activation((3, 5))], kinds=("f32",))
    # int16: the extremes, and numbers of either sign.
    before, after = Quantization.tensor(1 / 8192, 0), Quantization.tensor(1 / 10_000, 0)
    rng = np.random.default_rng(16)
    x = np.concatenate([[-32768, -1, 0, 1, 32767], rng.integers(-32768, 32768, 95)]).astype(np.int16)
    for name, alpha in ("alpha_0_1", 0.1), ("alpha_negative", -0.3):
        yield Case(
            name=f"leaky_relu_i16_{name}",
            what=f"leaky_relu i16, alpha {alpha}",
            model=build(
                leaky(alpha),
                [Tensor("x0", x.shape, np.int16, before)],
                [Tensor("y", x.shape, np.int16, after)],
            ),
            inputs=[{**int8_meta("x0", x.shape, before), "dtype": "INT16"}],
            outputs=[{**int8_meta("y", x.shape, after), "dtype": "INT16"}],
            sets=[[x]],
        )


def prelu_cases():
    image = Activation((1, 3, 4, 5), USUAL)
    alpha = Quantization.tensor(0.01, 17)
    for name, factors in ("channels", Constant((1, 1, 5), alpha)), ("elements", Constant((3, 4, 5), alpha)):
        yield from cases(name, f"[1, 3, 4, 5] {list(factors.shape)}", Op("PRELU"), [image, factors], output=WIDE)
