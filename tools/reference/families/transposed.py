"""TRANSPOSE_CONV, in float32 (LiteRT), in int8 and with int16 activations (TensorFlow Lite Micro)."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case, covering
from engines import run_litert_reference
from families.convolution import window_options
from tflite_file import Op, Quantization, Tensor, build

KINDS = {"f32": np.float32, "i8": np.int8, "i16": np.int16}


def all_cases():
    yield from transposed("valid", (1, 3, 4, 3), (3, 3), 5, (1, 1), "valid", "none")
    yield from transposed("same_stride2_relu", (1, 3, 4, 3), (3, 3), 17, (2, 2), "same", "relu")
    yield from transposed("same_odd_result", (1, 3, 4, 2), (3, 4), 4, (2, 3), "same", "none", result=(5, 11))
    yield from transposed("valid_rest", (2, 2, 3, 4), (2, 3), 3, (2, 2), "valid", "relu6", result=(5, 8))
    yield from transposed("window_less_than_stride", (1, 3, 2, 2), (1, 2), 3, (3, 3), "same", "none")
    yield from transposed("one_scale_batch2", (2, 2, 2, 33), (4, 4), 2, (2, 1), "same", "relu_n1_to_1", per_channel=False)
    yield from transposed("no_bias", (1, 4, 3, 3), (5, 2), 4, (2, 2), "same", "none", bias=False)
    yield from transposed("shape_is_an_input", (1, 2, 3, 2), (2, 2), 3, (2, 2), "valid", "none", constant=False)


def transposed(
    name, x, kernel, channels, stride, padding, activation, *, result=None, bias=True, per_channel=True, constant=True
):
    """The cases of all types. `result`: height and width, if not the usual ones."""
    rng = np.random.default_rng(len(name))
    usual = [
        cells * step if padding == "same" else (cells - 1) * step + taps
        for cells, step, taps in zip(x[1:3], stride, kernel, strict=True)
    ]
    shape = np.array([x[0], *(result or usual), channels], np.int32)
    options = schema.TransposeConvOptionsT()
    window_options(options, stride, (1, 1), padding, activation)
    filters = (channels, *kernel, x[3])
    fan_in = np.prod(kernel) * x[3] / np.prod(stride)
    count = channels if per_channel else 1
    scales = 0.02 / np.sqrt(fan_in) * np.exp(rng.uniform(-1, 0.5, count))
    weights = Quantization.channels(scales, 0) if per_channel else Quantization.tensor(scales[0], 0)
    numbers = rng.integers(-127, 128, filters, np.int8)

    def case(kind, inputs, quantization, y, operands):
        """`inputs`: the sets of the image."""
        op = Op("TRANSPOSE_CONV", options, 4)
        stated = Tensor("shape", (4,), np.int32, None, shape if constant else None)
        image = Tensor("x", x, KINDS[kind], quantization)
        output = Tensor("y", tuple(shape.tolist()), KINDS[kind], y)
        given = [image] if constant else [stated, image]
        return Case(
            name=f"transpose_conv_{kind}_{name}",
            what=f"transpose_conv {kind} {list(x)} to {shape.tolist()}, kernel {kernel}, stride {stride}, {padding}, "
            + ", ".join([activation, "per channel" if per_channel else "per tensor", "" if bias else "no bias"]),
            model=build(op, [stated, operands[0], image, *operands[1:]], [output]),
            inputs=[entry(tensor) for tensor in given],
            outputs=[entry(output)],
            sets=[[values] if constant else [shape, values] for values in inputs],
            engine="litert" if kind == "f32" else "micro",
        )

    real = Tensor("weights", filters, np.float32, None, weights.real(numbers))
    offsets = rng.normal(size=channels).astype(np.float32)
    biases = [Tensor("bias", (channels,), np.float32, None, offsets)] if bias else []
    image = rng.normal(size=x).astype(np.float32) * 3
    made = case("f32", [image], None, None, [real, *biases])
    yield made
    options.fusedActivationFunction, fused = 0, options.fusedActivationFunction
    probe = run_litert_reference(case("f32", [image], None, None, [real, *biases]).model, made.sets)[0][0]
    options.fusedActivationFunction = fused
    stored = Tensor("weights", filters, np.int8, weights, numbers)
    for kind, quantization, wide in (
        ("i8", Quantization.tensor(0.041, -11), np.int32),
        ("i16", Quantization.tensor(0.00031, 0), np.int64),
    ):
        scale = np.float64(quantization.scale[0]) * np.array(weights.scale)
        biases = Quantization.channels(scale, 0)
        data = np.round(offsets / scale).astype(wide)
        operands = [stored, Tensor("bias", (channels,), wide, biases, data)] if bias else [stored]
        y = covering(probe) if kind == "i8" else Quantization.tensor(np.abs(probe).max() / 30000, 0)
        limits = np.iinfo(KINDS[kind])
        extremes = np.array([limits.min, limits.max, quantization.zero_point[0]], KINDS[kind])
        sets = [rng.integers(limits.min, limits.max, x, KINDS[kind], endpoint=True), rng.choice(extremes, x)]
        yield case(kind, sets, quantization, y, operands)


def entry(tensor):
    quantization = tensor.quantization
    pair = (quantization.scale[0], quantization.zero_point[0]) if quantization else ()
    return meta_tensor(tensor.name, tensor.shape, np.dtype(tensor.dtype).name.upper(), *pair)
