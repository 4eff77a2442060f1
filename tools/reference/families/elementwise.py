"""ADD, RELU, RELU6, LOGISTIC, SOFTMAX, QUANTIZE and DEQUANTIZE."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Activation, Case, Constant, cases, int8_meta
from fixed_point import multiply, quantized_bound
from tflite_file import Op, Quantization, Tensor, build

EVERY_INT8 = tuple(range(-128, 128))
PROBABILITY = Quantization.tensor(1 / 256, -128)


def all_cases():
    yield from add_cases()
    yield from rectifier_cases()
    yield from logistic_cases()
    yield from softmax_cases()
    yield from quantize_cases()


def add_cases():
    left, right = Quantization.tensor(0.0235, -11), Quantization.tensor(0.041, 17)

    def add(
        name,
        shapes,
        *,
        activation="none",
        kinds=("f32", "i8"),
        output=None,
        operands=(Activation, Activation),
        quantizations=(left, right),
    ):
        options = schema.AddOptionsT()
        options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation.upper())
        operands = [kind(shape, q) for kind, shape, q in zip(operands, shapes, quantizations)]
        what = " + ".join(f"{type(o).__name__.lower()} [{', '.join(map(str, o.shape))}]" for o in operands)
        what += f", {activation}" if activation != "none" else ""
        return cases(name, what, Op("ADD", options), operands, output=output, kinds=kinds)

    image = (1, 3, 4, 5)
    yield from add("same_shape", [image, image])
    for activation in "relu", "relu6", "relu_n1_to_1":
        yield from add(activation, [image, image], activation=activation)
    yield from add("equal_quantization", [image, image], quantizations=(left, left))
    yield from add("equal_quantization_kept", [image, image], quantizations=(left, left), output="same")
    yield from add("left_much_coarser", [image, image], quantizations=(Quantization.tensor(0.5, 3), right))
    yield from add("right_much_coarser", [image, image], quantizations=(left, Quantization.tensor(0.9, -100)))
    yield from add("coarse_output", [image, image], output=Quantization.tensor(0.3, 90), kinds=("i8",))
    yield from add("rank1", [(7,), (7,)])
    yield from add("rank2", [(3, 7), (3, 7)])
    yield from add("channel_vector", [image, (5,)])
    yield from add("channel_vector_left", [(5,), image])
    yield from add("one_pixel", [image, (1, 1, 1, 5)])
    yield from add("one_value", [image, (1,)])
    yield from add("scalar", [image, ()])
    yield from add("scalar_left", [(), (2, 3)])
    yield from add("one_channel", [image, (1, 3, 4, 1)])
    yield from add("row_and_column", [(3, 1), (1, 4)])
    yield from add("both_sides", [(2, 1, 4, 1), (1, 3, 1, 5)])
    yield from add("batch", [(3, 2, 2, 2), (1, 2, 2, 2)])
    yield from add("middle", [(2, 3, 4), (2, 1, 4)])
    yield from add("rank3_to_rank4", [(2, 3, 4, 2), (3, 1, 2)])
    yield from add("constant", [image, image], operands=(Activation, Constant))
    yield from add("constant_left_relu", [image, image], operands=(Constant, Activation), activation="relu")
    yield from add("constant_channel_vector", [image, (5,)], operands=(Activation, Constant))
    yield from add("constant_scalar", [image, ()], operands=(Activation, Constant))


def rectifier_cases():
    wide, narrow = Quantization.tensor(0.1, 7), Quantization.tensor(0.05, -3)

    def rectifier(op, name, shape, quantization, output, kinds=("f32", "i8"), quantized=None):
        operands = [Activation(shape, quantization, quantized)]
        before, after = (f"{q.scale[0]:.4g} {q.zero_point[0]}" for q in (quantization, output))
        return cases(name, f"{before} -> {after}", Op(op), operands, output=output, kinds=kinds)

    def both(name, shape, quantization, output, **extra):
        yield from rectifier("RELU", name, shape, quantization, output, **extra)
        for case in rectifier("RELU6", name, shape, quantization, output, **extra):
            yield case if case.engine == "litert" else relu6_by_rule(case, quantization, output)

    yield from both("same_quantization", (1, 4, 4, 3), wide, wide)
    yield from both("rank1", (11,), wide, wide)
    yield from both("rank2_batch", (3, 5), wide, wide)
    every = {"shape": (1, 256), "quantized": EVERY_INT8, "kinds": ("i8",)}
    full = Quantization.tensor(6 / 255, -128)
    yield from both("every_value_kept", quantization=wide, output=wide, **every)
    yield from both("every_value_finer", quantization=wide, output=narrow, **every)
    yield from both("every_value_coarser", quantization=narrow, output=wide, **every)
    yield from both(
        "every_value_full_range", quantization=Quantization.tensor(0.047, -9), output=full, **every
    )
    # 0.05 / (6 / 255) is 2.125 in float32 and a little less in double: tflite-micro
    # divides in double, LiteRT in float32, and they differ wherever 2.125 n is a tie.
    yield from rectifier("RELU", "every_value_ratio_in_double", quantization=narrow, output=full, **every)


def relu6_by_rule(case, quantization, output):
    """Known fault L1: TensorFlow Lite Micro clamps RELU6 without rescaling.

    Expected is what TFLite does: rescale, then clamp to the quantized 0 and 6.
    Only scales for which it does not matter how the ratio is rounded (see above).
    """
    scale, zero_point = output.scale[0], output.zero_point[0]
    low = max(-128, zero_point)
    high = min(127, quantized_bound(6.0, scale, zero_point))
    ratio = quantization.scale[0] / scale

    def rescaled(x, ratio):
        y = multiply(x.astype(np.int64) - quantization.zero_point[0], ratio) + zero_point
        return np.clip(y, low, high).astype(np.int8)

    case.expected = [[rescaled(x, ratio)] for (x,) in case.sets]
    for (x,), (y,) in zip(case.sets, case.expected):
        np.testing.assert_array_equal(y, rescaled(x, float(np.float32(ratio))))
    case.expected_from = "computed: rescale with two roundings, then clamp (tflite-micro does not rescale)"
    return case


def logistic_cases():
    def logistic(name, shape, quantization, kinds=("f32", "i8"), quantized=None):
        operands = [Activation(shape, quantization, quantized)]
        what = f"input scale {quantization.scale[0]:.4g}, zero point {quantization.zero_point[0]}"
        return cases(name, what, Op("LOGISTIC"), operands, output=PROBABILITY, kinds=kinds)

    yield from logistic("rank4", (1, 3, 4, 2), Quantization.tensor(0.05, 4))
    yield from logistic("rank1", (9,), Quantization.tensor(0.05, 4))
    yield from logistic("rank2_batch", (3, 5), Quantization.tensor(0.2, -90))
    for scale, zero_point in (0.001, 0), (0.02, -128), (0.0625, 3), (0.13, 127), (0.9, -11):
        name = f"every_value_scale_{scale}".replace(".", "_")
        yield from logistic(name, (1, 256), Quantization.tensor(scale, zero_point), ("i8",), EVERY_INT8)


def softmax_cases():
    def softmax(name, shape, *, scale=0.05, zero_point=4, beta=1.0, kinds=("f32", "i8"), quantized=None):
        options = schema.SoftmaxOptionsT()
        options.beta = beta
        operands = [Activation(shape, Quantization.tensor(scale, zero_point), quantized)]
        what = f"[{', '.join(map(str, shape))}], beta {beta}, input scale {scale}"
        return cases(name, what, Op("SOFTMAX", options), operands, output=PROBABILITY, kinds=kinds)

    yield from softmax("rank1", (10,))
    yield from softmax("rank2", (1, 10))
    yield from softmax("rows", (5, 7))
    yield from softmax("rank3", (2, 3, 5))
    yield from softmax("rank4", (2, 2, 3, 4))
    yield from softmax("one_class", (3, 1))
    yield from softmax("two_classes", (4, 2))
    yield from softmax("classes_100", (1, 100), scale=0.1)
    yield from softmax("beta_half", (3, 10), beta=0.5)
    yield from softmax("beta_2_5", (3, 10), beta=2.5)
    yield from softmax("all_equal", (1, 12), quantized=(-128,) * 12)
    yield from softmax("coarse_scale", (4, 10), scale=0.7, zero_point=-20)
    yield from softmax("fine_scale", (4, 10), scale=0.003)
    yield from softmax("every_value", (1, 256), quantized=EVERY_INT8)
    yield from softmax("every_value_coarse", (1, 256), scale=0.35, quantized=EVERY_INT8, kinds=("i8",))


def quantize_cases():
    pairs = {
        "usual": Quantization.tensor(0.0235, -11),
        "low_zero_point": Quantization.tensor(1 / 255, -128),
        "power_of_two": Quantization.tensor(0.5, 3),
    }
    rng = np.random.default_rng(42)
    for name, quantization in pairs.items():
        scale, zero_point = quantization.scale[0], quantization.zero_point[0]
        # Ties (halves of the scale), values beyond both ends, and others.
        steps = np.concatenate([np.arange(-134, 134) + 0.5, rng.uniform(-300, 300, 32)])
        reals = ((steps - zero_point) * scale).astype(np.float32).reshape(2, 5, 30)
        yield Case(
            name=f"quantize_f32_to_i8_{name}",
            what=f"quantize f32 -> i8, scale {scale:.4g}, zero point {zero_point}; ties round away from zero",
            model=build(
                Op("QUANTIZE"),
                [Tensor("x0", reals.shape, np.float32)],
                [Tensor("y", reals.shape, np.int8, quantization)],
            ),
            inputs=[meta_tensor("x0", reals.shape, "FLOAT32")],
            outputs=[int8_meta("y", reals.shape, quantization)],
            sets=[[reals]],
        )
        values = np.array(EVERY_INT8, np.int8).reshape(1, 16, 16, 1)
        yield Case(
            name=f"dequantize_i8_to_f32_{name}",
            what=f"dequantize i8 -> f32, scale {scale:.4g}, zero point {zero_point}",
            model=build(
                Op("DEQUANTIZE", version=2),
                [Tensor("x0", values.shape, np.int8, quantization)],
                [Tensor("y", values.shape, np.float32)],
            ),
            inputs=[int8_meta("x0", values.shape, quantization)],
            outputs=[meta_tensor("y", values.shape, "FLOAT32")],
            sets=[[values]],
        )
    ratios = {
        "finer": (0.0235, -11, 0.015, 20),
        "coarser": (0.0235, -11, 0.09, -70),
        "half": (0.05, 0, 0.1, 0),
        "0_3_rounds_twice": (0.03, 0, 0.1, 0),
        "0_05_rounds_twice": (0.005, 0, 0.1, 0),
        "same": (0.05, 4, 0.05, 4),
        "moved": (0.05, -128, 0.05, 0),
    }
    for name, (scale, zero_point, out_scale, out_zero_point) in ratios.items():
        before, after = Quantization.tensor(scale, zero_point), Quantization.tensor(out_scale, out_zero_point)
        values = np.array(EVERY_INT8, np.int8).reshape(1, 256)
        yield Case(
            name=f"quantize_i8_to_i8_{name}",
            what=f"quantize i8 -> i8, {scale} {zero_point} -> {out_scale} {out_zero_point}",
            model=build(
                Op("QUANTIZE", version=2),
                [Tensor("x0", values.shape, np.int8, before)],
                [Tensor("y", values.shape, np.int8, after)],
            ),
            inputs=[int8_meta("x0", values.shape, before)],
            outputs=[int8_meta("y", values.shape, after)],
            sets=[[values]],
        )
