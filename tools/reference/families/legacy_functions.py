"""uint8 models: operators without weights, on every value where there is one operand.

TensorFlow Lite Micro does not run them; the expected values are LiteRT's.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from families.legacy import case, meta, values
from tflite_file import Op, Quantization, Tensor, build

X, OTHER, Y = Quantization.tensor(0.0235, 117), Quantization.tensor(0.041, 145), Quantization.tensor(0.06, 90)
EVERY = np.arange(256, dtype=np.uint8).reshape(1, 256)
SHAPE = (1, 4, 5, 3)


def all_cases():
    yield from one_operand()
    yield from two_operands()
    yield from comparisons()


def one_operand():
    approximate, leaky = schema.GeluOptionsT(), schema.LeakyReluOptionsT()
    approximate.approximate, leaky.alpha = True, 0.1
    for name, op, y in (
        ("gelu", Op("GELU", schema.GeluOptionsT()), Y),
        ("gelu_approximate", Op("GELU", approximate), Y),
        ("hard_swish", Op("HARD_SWISH", schema.HardSwishOptionsT()), Y),
        ("leaky_relu", Op("LEAKY_RELU", leaky, 2), Y),
        ("logistic", Op("LOGISTIC"), Quantization.tensor(1 / 256, 0)),
        ("relu", Op("RELU"), Y),
        ("relu6", Op("RELU6"), Y),
        ("relu_n1_to_1", Op("RELU_N1_TO_1"), Y),
        ("relu_0_to_1", Op("RELU_0_TO_1"), Y),
        ("tanh", Op("TANH"), Quantization.tensor(1 / 128, 128)),
    ):
        operands = [Tensor("x", EVERY.shape, np.uint8, X)]
        yield case(name, "every_value", op, operands, EVERY.shape, y, [EVERY])


def two_operands():
    for number, (name, op, scales) in enumerate((
        ("sub", Op("SUB", schema.SubOptionsT()), (X, OTHER, Y)),
        ("mul", Op("MUL", schema.MulOptionsT()), (X, OTHER, Y)),
        ("div", Op("DIV", schema.DivOptionsT()), (X, OTHER, Y)),
        ("minimum", Op("MINIMUM", schema.MaximumMinimumOptionsT()), (X, X, X)),
        ("maximum", Op("MAXIMUM", schema.MaximumMinimumOptionsT()), (X, X, X)),
    )):
        rng = np.random.default_rng(number)
        b = values(rng, SHAPE)
        b[b == OTHER.zero_point[0]] = 3  # there are no quotients by 0
        operands = [Tensor("x0", SHAPE, np.uint8, scales[0]), Tensor("x1", SHAPE, np.uint8, scales[1])]
        yield case(name, "same_shape", op, operands, SHAPE, scales[2], [values(rng, SHAPE), b])
    alpha = np.array([0, 100, 255], np.uint8)
    operands = [
        Tensor("x", SHAPE, np.uint8, X),
        Tensor("alpha", (1, 1, 3), np.uint8, Quantization.tensor(0.01, 120), alpha.reshape(1, 1, 3)),
    ]
    yield case("prelu", "channels", Op("PRELU"), operands, SHAPE, Y, [values(np.random.default_rng(9), SHAPE)])


def comparisons():
    a = np.concatenate([EVERY, EVERY]).reshape(2, 256)
    b = np.random.default_rng(3).permutation(EVERY.ravel()).reshape(1, 256)
    b = np.concatenate([b, np.clip(EVERY.astype(int) + np.arange(256) % 3 - 1, 0, 255)]).astype(np.uint8)
    for name, kind, scales, other in (
        ("LESS", schema.LessOptionsT, "unequal_scales", OTHER),
        ("EQUAL", schema.EqualOptionsT, "same_scale", X),
    ):
        operands = [Tensor("x0", a.shape, np.uint8, X), Tensor("x1", a.shape, np.uint8, other)]
        yield Case(
            name=f"{name.lower()}_u8_{scales}",
            what=f"{name.lower()} uint8 {scales.replace('_', ' ')}",
            model=build(Op(name, kind()), operands, [Tensor("y", a.shape, np.bool_)]),
            inputs=[meta(x.name, x.shape, x.quantization) for x in operands],
            outputs=[meta_tensor("y", a.shape, "BOOL")],
            sets=[[a, b]],
            engine="litert",
        )
