"""CONV_2D and DEPTHWISE_CONV_2D."""

from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Bias, NoBias, Weights, cases
from tflite_file import Op, Quantization

ACTIVATIONS = ("none", "relu", "relu6", "relu_n1_to_1")


def all_cases():
    yield from conv2d_cases()
    yield from depthwise_cases()


def conv2d_cases():
    for padding in "same", "valid":
        yield from conv2d(f"{padding}", padding=padding)
        yield from conv2d(f"{padding}_stride2", padding=padding, stride=(2, 2))
        yield from conv2d(f"{padding}_dilation2", image=(7, 8), padding=padding, dilation=(2, 2))
        yield from conv2d(f"{padding}_kernel_2x3", kernel=(2, 3), padding=padding)
        for activation in ACTIVATIONS[1:]:
            yield from conv2d(f"{padding}_{activation}", padding=padding, activation=activation)
    yield from conv2d("same_stride_1x2", padding="same", stride=(1, 2))
    yield from conv2d("same_stride_3x1", padding="same", stride=(3, 1))
    yield from conv2d("same_stride2_even_image", image=(6, 4), padding="same", stride=(2, 2))
    yield from conv2d(
        "same_stride2_kernel5", image=(8, 7), kernel=(5, 5), stride=(2, 2), padding="same", out_channels=2
    )
    yield from conv2d("same_dilation_2x3", image=(6, 8), padding="same", dilation=(2, 3))
    yield from conv2d("same_stride2_dilation2", image=(7, 7), stride=(2, 2), dilation=(2, 2), padding="same")
    yield from conv2d("same_kernel_over_image", image=(2, 3), kernel=(5, 5), padding="same")
    yield from conv2d("same_kernel_4x4", kernel=(4, 4), padding="same")
    yield from conv2d("valid_kernel_is_image", image=(4, 5), kernel=(4, 5), padding="valid", out_channels=6)
    yield from conv2d("valid_stride_over_kernel", image=(9, 8), kernel=(2, 2), stride=(3, 3), padding="valid")
    yield from conv2d("1x1", kernel=(1, 1), in_channels=7, out_channels=5)
    yield from conv2d("1x1_relu6", kernel=(1, 1), in_channels=8, out_channels=8, activation="relu6")
    yield from conv2d("1x1_stride2_same", kernel=(1, 1), stride=(2, 2), padding="same")
    yield from conv2d("one_channel", in_channels=1, out_channels=1, padding="same")
    yield from conv2d("one_to_nine_channels", in_channels=1, out_channels=9, padding="same")
    yield from conv2d("channels_17", image=(3, 3), in_channels=17, out_channels=17, padding="same")
    yield from conv2d("one_dimensional", image=(1, 12), kernel=(1, 4), padding="same")
    yield from conv2d("column_kernel", image=(10, 3), kernel=(10, 1), in_channels=2)
    yield from conv2d("batch3", batch=3, image=(4, 4), padding="same")
    yield from conv2d("batch2_valid_stride2_relu", batch=2, stride=(2, 2), activation="relu")
    yield from conv2d("no_bias", padding="same", bias=False)
    yield from conv2d(
        "no_bias_relu_per_tensor", padding="same", bias=False, activation="relu", per_channel=False
    )
    yield from conv2d("groups2", in_channels=6, groups=2, padding="same")
    yield from conv2d(
        "groups3_stride2_relu", in_channels=6, groups=3, out_channels=6, stride=(2, 2), activation="relu"
    )
    yield from conv2d("groups_are_channels", in_channels=4, groups=4, out_channels=8)
    yield from conv2d("per_tensor", padding="same", per_channel=False)
    yield from conv2d("per_tensor_stride2_relu6", stride=(2, 2), per_channel=False, activation="relu6")
    yield from conv2d(
        "input_zero_point_low", padding="same", quantization=Quantization.tensor(1 / 255, -128), kinds=("i8",)
    )
    yield from conv2d(
        "input_zero_point_high", padding="same", quantization=Quantization.tensor(0.05, 127), kinds=("i8",)
    )
    yield from conv2d(
        "multiplier_over_1",
        image=(1, 3),
        kernel=(1, 1),
        in_channels=1,
        out_channels=16,
        bias=False,
        quantized=(-10, -11, -12),
        per_channel=False,
        output=Quantization.tensor(0.0004, 5),
        kinds=("i8",),
    )
    yield from conv2d("coarse_output", padding="same", output=Quantization.tensor(0.7, -128), kinds=("i8",))
    yield from conv2d(
        "fine_output_relu6",
        padding="same",
        activation="relu6",
        output=Quantization.tensor(6 / 255, -128),
        kinds=("i8",),
    )


def depthwise_cases():
    for padding in "same", "valid":
        yield from depthwise(f"{padding}", padding=padding)
        yield from depthwise(f"{padding}_stride2", padding=padding, stride=(2, 2))
        yield from depthwise(f"{padding}_dilation2", image=(7, 8), padding=padding, dilation=(2, 2))
        yield from depthwise(f"{padding}_multiplier2", padding=padding, multiplier=2)
    for activation in ACTIVATIONS[1:]:
        yield from depthwise(f"same_{activation}", padding="same", activation=activation)
        yield from depthwise(f"multiplier3_{activation}", multiplier=3, activation=activation)
    yield from depthwise("same_stride_1x2", padding="same", stride=(1, 2))
    yield from depthwise("same_stride_2x1_kernel_2x5", kernel=(2, 5), padding="same", stride=(2, 1))
    yield from depthwise("same_dilation_3x1", image=(8, 4), padding="same", dilation=(3, 1))
    yield from depthwise(
        "same_stride2_dilation2_multiplier2",
        image=(7, 7),
        stride=(2, 2),
        dilation=(2, 2),
        padding="same",
        multiplier=2,
    )
    yield from depthwise("same_kernel_over_image", image=(2, 2), kernel=(5, 5), padding="same")
    yield from depthwise("one_channel_multiplier8", channels=1, multiplier=8, padding="same")
    yield from depthwise("one_channel", channels=1, padding="same")
    yield from depthwise("channels_17", channels=17, image=(4, 4), padding="same")
    yield from depthwise(
        "channels_16_stride2_relu",
        channels=16,
        image=(4, 4),
        stride=(2, 2),
        padding="same",
        activation="relu",
    )
    yield from depthwise("1x1", kernel=(1, 1))
    yield from depthwise("column_kernel", image=(8, 1), kernel=(3, 1))
    yield from depthwise("valid_kernel_is_image", image=(5, 4), kernel=(5, 4))
    yield from depthwise("batch3", batch=3, image=(4, 4), padding="same")
    yield from depthwise("batch2_multiplier2_stride2", batch=2, multiplier=2, stride=(2, 2))
    yield from depthwise("no_bias", padding="same", bias=False)
    yield from depthwise("per_tensor", padding="same", per_channel=False)
    yield from depthwise("per_tensor_multiplier2_relu", multiplier=2, per_channel=False, activation="relu")
    yield from depthwise(
        "input_zero_point_low", padding="same", quantization=Quantization.tensor(1 / 255, -128), kinds=("i8",)
    )
    yield from depthwise("coarse_output", padding="same", output=Quantization.tensor(0.7, 100), kinds=("i8",))


def conv2d(
    name,
    *,
    batch=1,
    image=(5, 6),
    in_channels=3,
    out_channels=4,
    kernel=(3, 3),
    groups=1,
    stride=(1, 1),
    dilation=(1, 1),
    padding="valid",
    activation="none",
    bias=True,
    per_channel=True,
    quantization=Activation.quantization,
    quantized=None,
    output=None,
    kinds=("f32", "i8"),
):
    options = schema.Conv2DOptionsT()
    window_options(options, stride, dilation, padding, activation)
    group = in_channels // groups
    operands = [
        Activation((batch, *image, in_channels), quantization, quantized),
        Weights((out_channels, *kernel, group), kernel[0] * kernel[1] * group, 0 if per_channel else None),
        Bias(out_channels) if bias else NoBias(out_channels),
    ]
    what = describe(kernel, stride, dilation, padding, activation, per_channel, bias, batch)
    what += f", {groups} groups" if groups > 1 else ""
    return cases(name, what, Op("CONV_2D", options), operands, output=output, kinds=kinds)


def depthwise(
    name,
    *,
    batch=1,
    image=(5, 6),
    channels=4,
    multiplier=1,
    kernel=(3, 3),
    stride=(1, 1),
    dilation=(1, 1),
    padding="valid",
    activation="none",
    bias=True,
    per_channel=True,
    quantization=Activation.quantization,
    output=None,
    kinds=("f32", "i8"),
):
    options = schema.DepthwiseConv2DOptionsT()
    window_options(options, stride, dilation, padding, activation)
    options.depthMultiplier = multiplier
    out = channels * multiplier
    operands = [
        Activation((batch, *image, channels), quantization),
        Weights((1, *kernel, out), kernel[0] * kernel[1], 3 if per_channel else None),
        *([Bias(out)] if bias else []),
    ]
    what = f"multiplier {multiplier}, "
    what += describe(kernel, stride, dilation, padding, activation, per_channel, bias, batch)
    op = Op("DEPTHWISE_CONV_2D", options, 1 if dilation == (1, 1) else 2)
    return cases(name, what, op, operands, output=output, kinds=kinds)


def window_options(options, stride, dilation, padding, activation):
    options.strideH, options.strideW = stride
    options.dilationHFactor, options.dilationWFactor = dilation
    options.padding = getattr(schema.Padding, padding.upper())
    options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation.upper())


def describe(kernel, stride, dilation, padding, activation, per_channel, bias, batch):
    parts = [
        f"kernel {kernel[0]}x{kernel[1]}",
        f"stride {stride[0]}x{stride[1]}" if stride != (1, 1) else "",
        f"dilation {dilation[0]}x{dilation[1]}" if dilation != (1, 1) else "",
        padding,
        activation if activation != "none" else "",
        "per channel" if per_channel else "per tensor",
        "" if bias else "no bias",
        f"batch {batch}" if batch > 1 else "",
    ]
    return ", ".join(part for part in parts if part)
