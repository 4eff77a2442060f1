"""Models that must be refused with a reason, not compiled into something that runs wrongly.

`refused.json` says for each what the refusal is about, and what the two
references make of it: some refuse, some run it and give a wrong or an unrelated
result.
"""

import json
import multiprocessing
import os
import shutil
from dataclasses import dataclass

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import INT8_VERSIONS
from engines import run_litert_reference, run_tflite_micro
from families import control, recurrent
from tflite_file import Custom, Op, Quantization, Tensor, build

X = Quantization.tensor(0.1, -3)
OTHER = Quantization.tensor(0.2, 4)
WEIGHTS = Quantization.tensor(0.02, 0)
RUNS, REFUSES = 0, 3
RNG = np.random.default_rng(15)


@dataclass(frozen=True)
class Refused:
    """A model, the reason to refuse it, and the known fault that it is an instance of."""

    name: str
    reason: str
    op: Op
    inputs: list
    output: Tensor
    known_fault: str | None = None
    file: bytes | None = None  # where it is more than one operator

    def model(self):
        return self.file or build(self.op, self.inputs, [self.output])


def all_models():
    yield from unequal_quantization()
    yield from hybrid()
    yield from impossible_quantization()
    yield from wrong_shapes()
    yield from matrices()
    yield from (Refused(*model) for model in recurrent.refused_models())
    yield from int16()
    yield fused_tanh()
    yield from signal()
    yield from reductions()
    for name, reason, op, inputs, output, file in control.refused():
        yield Refused(name, reason, op, inputs, output, file=file)


def int16():
    """int16 activations have zero point 0, and equal scales where integers are compared."""
    first, other = Quantization.tensor(0.1, 0), Quantization.tensor(0.2, 0)
    reason = "input and output must have the same quantization: 0.1 0, 0.2 0"
    image, pooled = short((1, 4, 4, 2), first), short((1, 2, 2, 2), other, "y")
    yield Refused(
        "average_pool_2d_i16_unequal_quantization", reason, Op("AVERAGE_POOL_2D", pool(), 3), [image], pooled, "L15"
    )
    truth = Tensor("y", (1, 10), np.bool_)
    row, coarse = short((1, 10), first), short((1, 10), other, "x1")
    yield Refused(
        "greater_i16_unequal_scales",
        "int16 of unequal scales cannot be compared: LiteRT ignores the scales",
        Op("GREATER", schema.GreaterOptionsT()),
        [row, coarse],
        truth,
    )
    shifted = short((1, 10), Quantization.tensor(0.1, 7))
    yield Refused(
        "mul_i16_zero_point",
        "int16 activations must have zero point 0, found 7",
        Op("MUL", schema.MulOptionsT(), 4),
        [shifted, short((1, 10), first, "x1")],
        short((1, 10), other, "y"),
    )
    softmax = schema.SoftmaxOptionsT()
    softmax.beta = 1.0
    yield Refused(
        "softmax_i16_output_quantization",
        "the output must have scale 1/32768 and zero point 0, found 0.2 0",
        Op("SOFTMAX", softmax, 3),
        [row],
        short((1, 10), other, "y"),
    )


def fused_tanh():
    options = schema.AddOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    operands = [floats((2, 3)), floats((2, 3), "x1")]
    return Refused(
        "add_f32_fused_tanh", "TANH cannot be fused", Op("ADD", options), operands, floats((2, 3), "y")
    )


def unequal_quantization():
    """Known fault L15 and its kind: the bytes are copied although they mean something else."""
    reason = "input and output must have the same quantization: 0.1 -3, 0.2 4"
    image = activation((1, 4, 4, 2), X)
    pooled = activation((1, 2, 2, 2), OTHER, "y")
    for operator in "AVERAGE_POOL_2D", "MAX_POOL_2D":
        yield Refused(
            f"{operator.lower()}_i8_unequal_quantization",
            reason,
            int8(operator, pool()),
            [image],
            pooled,
            "L15",
        )
    flat = activation((1, 32), OTHER, "y")
    yield Refused(
        "reshape_i8_unequal_quantization",
        reason,
        int8("RESHAPE", schema.ReshapeOptionsT()),
        [image, integers([1, 32])],
        flat,
        "L15",
    )
    padded = activation((1, 5, 4, 2), OTHER, "y")
    paddings = integers([[0, 0], [1, 0], [0, 0], [0, 0]])
    yield Refused(
        "pad_i8_unequal_quantization",
        reason,
        int8("PAD", schema.PadOptionsT()),
        [image, paddings],
        padded,
        "L15",
    )


def hybrid():
    """Kinds of known fault L13, float32 activations with int8 weights, that are not supported."""
    reason = "weights have a scale for 2 channels: LiteRT reads as many as channels"
    image, output, bias = floats((1, 4, 4, 2)), floats((1, 4, 4, 2), "y"), constant(np.zeros(2, np.float32))
    yield Refused(
        "depthwise_conv_2d_hybrid",
        reason,
        Op("DEPTHWISE_CONV_2D", depthwise(), 6),
        [image, weights((1, 3, 3, 2)), bias],
        output,
        "L13",
    )
    channels = Quantization.channels((0.02, 0.03), 0)
    yield Refused(
        "conv_2d_hybrid_batch",
        "int8 weights with a batch of float32 images are not supported",
        Op("CONV_2D", conv(), 2),
        [floats((2, 4, 4, 2)), weights((2, 3, 3, 2), channels), bias],
        floats((2, 4, 4, 2), "y"),
        "L13",
    )


def impossible_quantization():
    image, output = activation((1, 4, 4, 2), X), activation((1, 4, 4, 2), OTHER, "y")
    shifted = Quantization((0.02, 0.03), (0, 5), 0)
    yield conv_i8(
        "weight_zero_point",
        "weights quantized per channel must have zero point 0, found 5",
        image,
        weights((2, 3, 3, 2), shifted),
        output,
    )
    three = Quantization.channels((0.02, 0.03, 0.04), 0)
    yield conv_i8(
        "scale_count",
        "weights have 2 output channels but 3 scales",
        image,
        weights((2, 3, 3, 2), three),
        output,
    )
    yield conv_i8(
        "no_output_quantization",
        "the int8 output has no scale",
        image,
        weights((2, 3, 3, 2)),
        activation((1, 4, 4, 2), None, "y"),
    )
    yield Refused(
        "fully_connected_i8_bias_scale",
        "the bias scale must be that of input times weights: 0.002, found 0.5",
        int8("FULLY_CONNECTED", schema.FullyConnectedOptionsT()),
        [
            activation((1, 3), X),
            weights((2, 3)),
            constant(np.array([7, -7], np.int32), Quantization.tensor(0.5, 0)),
        ],
        activation((1, 2), OTHER, "y"),
    )
    reason = "the output must have scale 1/256 and zero point -128, found 0.2 4"
    softmax = schema.SoftmaxOptionsT()
    softmax.beta = 1.0
    row, out = activation((1, 10), X), activation((1, 10), OTHER, "y")
    yield Refused("softmax_i8_output_quantization", reason, int8("SOFTMAX", softmax), [row], out)
    yield Refused("logistic_i8_output_quantization", reason, int8("LOGISTIC"), [row], out)


def wrong_shapes():
    """Shapes that contradict each other. Known fault L2b: the file's shape was trusted."""
    image = activation((1, 4, 4, 2), X)
    yield conv_i8(
        "stale_output_shape",
        "output has shape [1, 4, 4, 2], the file says [1, 1, 1, 1]",
        image,
        weights((2, 3, 3, 2)),
        activation((1, 1, 1, 1), OTHER, "y"),
        "L2b",
    )
    block, paddings = integers([1, 2]), integers([[0, 0], [2, 2]])
    yield Refused(
        "space_to_batch_nd_f32_stale_output_shape",
        "output has shape [2, 1, 6, 1], the file says [1, 1, 1, 1]",
        Op("SPACE_TO_BATCH_ND", schema.SpaceToBatchNDOptionsT()),
        [floats((1, 1, 8, 1)), block, paddings],
        floats((1, 1, 1, 1), "y"),
        "L2b",
    )
    yield conv_i8(
        "channel_mismatch",
        "weights for 3 input channels, the input has 2",
        image,
        weights((2, 3, 3, 3)),
        activation((1, 4, 4, 2), OTHER, "y"),
    )
    yield Refused(
        "fully_connected_i8_depth_mismatch",
        "weights of depth 12 do not divide the 10 elements of the input",
        int8("FULLY_CONNECTED", schema.FullyConnectedOptionsT()),
        [activation((1, 10), X), weights((2, 12)), None],
        activation((1, 2), OTHER, "y"),
    )
    yield Refused(
        "add_i8_shapes",
        "[2, 3] and [2, 4] cannot be broadcast",
        int8("ADD", schema.AddOptionsT()),
        [activation((2, 3), X), activation((2, 4), X, "x1")],
        activation((2, 4), OTHER, "y"),
    )
    yield Refused(
        "reshape_f32_element_count",
        "24 elements cannot be reshaped to [5, 5]",
        Op("RESHAPE", schema.ReshapeOptionsT()),
        [floats((2, 12)), integers([5, 5])],
        floats((5, 5), "y"),
    )
    yield Refused(
        "mean_f32_axis_out_of_range",
        "axis 4 of a tensor of rank 3",
        Op("MEAN", schema.ReducerOptionsT()),
        [floats((2, 3, 4)), integers([4])],
        floats((2, 3), "y"),
    )


def matrices():
    """Products of matrices, transposed convolutions, images of other extents."""
    options = schema.TransposeConvOptionsT()
    options.strideH = options.strideW = 2
    image, output = activation((1, 2, 2, 1), X), activation((1, 4, 4, 1), OTHER, "y")
    filters = constant(np.ones((1, 3, 3, 1), np.int8), WEIGHTS, "weights")
    yield Refused(
        "transpose_conv_i8_stale_output_shape",
        "the operand says that the result is [1, 3, 4, 1], declared is [1, 4, 4, 1]",
        Op("TRANSPOSE_CONV", options, 2),
        [integers([1, 3, 4, 1]), filters, image],
        output,
    )
    yield Refused(
        "transpose_conv_i8_impossible_shape",
        "no 2 windows in steps of 2 make 8 rows",
        Op("TRANSPOSE_CONV", options, 2),
        [integers([1, 8, 4, 1]), filters, image],
        activation((1, 8, 4, 1), OTHER, "y"),
    )
    yield Refused(
        "batch_matmul_hybrid",
        "int8 constants with float32 activations are not supported in BATCH_MATMUL",
        Op("BATCH_MATMUL", schema.BatchMatMulOptionsT(), 4),
        [floats((1, 3, 4)), constant(np.ones((4, 2), np.int8), WEIGHTS)],
        floats((1, 3, 2), "y"),
        "L13",
    )
    yield Refused(
        "resize_bilinear_i8_unequal_quantization",
        "input and output must have the same quantization: 0.1 -3, 0.2 4",
        Op("RESIZE_BILINEAR", schema.ResizeBilinearOptionsT(), 2),
        [activation((1, 2, 2, 1), X), integers([4, 4])],
        output,
    )


def signal():
    """Custom operators of the audio front end, whose attributes or tables do not fit."""
    samples, bins = Tensor("x0", (8,), np.int16), Tensor("x0", (8,), np.uint32)
    noise = Tensor("x1", (8,), np.uint32)

    def model(name, reason, operator, attributes, operands, shape, dtype):
        op = Custom(f"Signal{operator}", attributes)
        return Refused(f"signal_{name}", reason, op, operands, Tensor("y", shape, dtype))

    def shorts(*values):
        return constant(np.array(values, np.int16))

    framed = [samples, shorts(*[1] * 8)]
    attributes = {"shift": 12, "rounding": 1}
    yield model("window_unknown_attribute", "rounding is not known", "Window", attributes, framed, (8,), np.int16)
    yield model("window_shift", "32 bits are more than there are", "Window", {"shift": 32}, framed, (8,), np.int16)
    attributes = {"T": schema.TensorType.FLOAT32, "fft_length": 16}
    yield model("rfft_type", "T says float32, the operand is int16", "Rfft", attributes, [samples], (18,), np.int16)
    attributes = {"T": schema.TensorType.INT16, "fft_length": 12}
    yield model("rfft_length", "12 is no power of two", "Rfft", attributes, [samples], (14,), np.int16)
    attributes = {"start_index": 0, "end_index": 5}
    yield model("energy_bins", "bins up to 5 of 4", "Energy", attributes, [samples], (4,), np.uint32)
    attributes, reason = {"input_correction_bits": 3}, "output_scale is missing"
    yield model("filter_bank_log_missing_attribute", reason, "FilterBankLog", attributes, [bins], (8,), np.int16)
    operands = [bins, noise, shorts(*[1] * 121)]
    yield model("pcan_gains", "121 gains, 125 are needed", "PCAN", {"snr_shift": 6}, operands, (8,), np.uint32)
    starts, widths, weights = shorts(0, 5), shorts(4, 4), shorts(*[1] * 9)
    operands, reason = [bins, weights, weights, starts, starts, widths], "4 bins from 5 on, there are 8"
    yield model("filter_bank_bins", reason, "FilterBank", {"num_channels": 1}, operands, (1,), np.uint64)


def reductions():
    """Reductions, searches and look-ups that do not fit."""
    matrix, row = activation((2, 3), X), activation((2,), OTHER, "y")
    for operator in "REDUCE_MAX", "REDUCE_MIN":
        yield Refused(
            f"{operator.lower()}_i8_unequal_quantization",
            "input and output must have the same quantization: 0.1 -3, 0.2 4",
            Op(operator, schema.ReducerOptionsT(), 2),
            [matrix, integers([1])],
            row,
        )
    yield Refused(
        "reduce_prod_i8_overflow",
        "the product of 12 elements can overflow the 32 bits of its steps",
        Op("REDUCE_PROD", schema.ReducerOptionsT(), 2),
        [activation((2, 12), X), integers([1])],
        row,
    )
    yield Refused(
        "sum_f32_axis_out_of_range",
        "axis -3 of a tensor of rank 2",
        Op("SUM", schema.ReducerOptionsT()),
        [floats((2, 3)), integers([-3])],
        floats((2,), "y"),
    )
    arg = schema.ArgMaxOptionsT()
    arg.outputType = schema.TensorType.INT64
    indices = Tensor("y", (2,), np.int32)
    yield Refused(
        "arg_max_output_type",
        "output_type is int64, the result is int32",
        Op("ARG_MAX", arg),
        [floats((2, 3)), integers(1)],
        indices,
    )
    yield Refused(
        "cumsum_f32_axis_not_constant",
        "the axis is only known when the model runs",
        Op("CUMSUM", schema.CumsumOptionsT()),
        [floats((2, 3)), Tensor("axis", (), np.int32)],
        floats((2, 3), "y"),
    )
    normal = schema.L2NormOptionsT()
    reason = "the output must have scale 1/128 and zero point 0, found 0.2 4"
    fixed = activation((2, 3), OTHER, "y")
    yield Refused("l2_normalization_i8_output_quantization", reason, Op("L2_NORMALIZATION", normal, 2), [matrix], fixed)
    reason = "the output must have scale 1/16 and zero point 127, found 0.2 4"
    op = Op("LOG_SOFTMAX", schema.LogSoftmaxOptionsT(), 2)
    yield Refused("log_softmax_i8_output_quantization", reason, op, [matrix], fixed)
    op = Op("GATHER_ND", schema.GatherNdOptionsT())
    reason = "index 3 of an axis of 3 elements"
    yield Refused("gather_nd_f32_index", reason, op, [floats((2, 3)), integers([[1, 3]])], floats((1,), "y"))
    reason = "3 indices for the 2 axes of the input"
    yield Refused("gather_nd_f32_axes", reason, op, [floats((2, 3)), integers([[1, 1, 1]])], floats((1,), "y"))
    yield Refused(
        "one_hot_negative_depth",
        "the depth is -4",
        Op("ONE_HOT", schema.OneHotOptionsT()),
        [Tensor("x0", (2,), np.int32), integers(-4), constant(np.float32(1)), constant(np.float32(0))],
        floats((2, 4), "y"),
    )
    table = constant(np.ones((4, 3), np.int8), Quantization.tensor(0.1, 5), "table")
    yield Refused(
        "embedding_lookup_zero_point",
        "a table with zero point 5 for a float32 result",
        Op("EMBEDDING_LOOKUP", None, 3),
        [Tensor("x0", (2,), np.int32), table],
        floats((2, 3), "y"),
    )


def activation(shape, quantization, name="x0"):
    return Tensor(name, shape, np.int8, quantization)


def short(shape, quantization, name="x0"):
    return Tensor(name, shape, np.int16, quantization)


def floats(shape, name="x0"):
    return Tensor(name, shape, np.float32)


def constant(data, quantization=None, name="constant"):
    return Tensor(name, data.shape, data.dtype, quantization, data)


def integers(values):
    return constant(np.array(values, np.int32))


def weights(shape, quantization=WEIGHTS):
    return constant(RNG.integers(-127, 127, shape, np.int8, endpoint=True), quantization, "weights")


def int8(name, options=None):
    return Op(name, options, INT8_VERSIONS.get(name, 1))


def conv():
    options = schema.Conv2DOptionsT()
    options.strideH = options.strideW = 1
    options.padding = schema.Padding.SAME
    return options


def depthwise():
    options = schema.DepthwiseConv2DOptionsT()
    options.strideH = options.strideW = options.depthMultiplier = 1
    options.padding = schema.Padding.SAME
    return options


def pool():
    options = schema.Pool2DOptionsT()
    options.filterHeight = options.filterWidth = options.strideH = options.strideW = 2
    options.padding = schema.Padding.VALID
    return options


def conv_i8(name, reason, image, kernel, output, known_fault=None):
    channels = kernel.shape[0]
    scale = np.float64(image.quantization.scale[0]) * np.array(kernel.quantization.scale)
    bias = constant(np.zeros(channels, np.int32), Quantization.channels(scale, 0), "bias")
    return Refused(
        f"conv_2d_i8_{name}", reason, int8("CONV_2D", conv()), [image, kernel, bias], output, known_fault
    )


def reaction(run, refused):
    """What a reference makes of the model: "refuses", "runs" or "crashes"."""
    process = multiprocessing.get_context("fork").Process(target=attempt, args=(run, refused))
    process.start()
    process.join()
    return {RUNS: "runs", REFUSES: "refuses"}.get(process.exitcode, "crashes")


def attempt(run, refused):
    """Runs the model, alone in a process since some crash the interpreter."""
    inputs = [
        np.ones(tensor.shape, tensor.dtype)
        for tensor in refused.inputs
        if tensor is not None and tensor.is_given
    ]
    try:
        run(refused.model(), [inputs])
    except (RuntimeError, ValueError):
        os._exit(REFUSES)
    os._exit(RUNS)


def write(folder):
    """Writes the models and `refused.json`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = []
    for refused in all_models():
        (folder / f"{refused.name}.tflite").write_bytes(refused.model())
        entry = {
            "file": f"{refused.name}.tflite",
            "operator": refused.op.name,
            "reason": refused.reason,
            "known_fault": refused.known_fault,
            "tflite_micro": reaction(run_tflite_micro, refused),
            "litert_reference": reaction(run_litert_reference, refused),
        }
        lines.append(json.dumps(entry))
    (folder / "refused.json").write_text("[\n  " + ",\n  ".join(lines) + "\n]\n")
