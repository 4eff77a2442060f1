"""AVERAGE_POOL_2D, MAX_POOL_2D and MEAN."""

from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Integers, cases
from tflite_file import Op, Quantization

POOL_QUANTIZATION = Quantization.tensor(0.06, 10)  # from -8.3 to 7.0: every clamp bites


def all_cases():
    for operator in "AVERAGE_POOL_2D", "MAX_POOL_2D":
        yield from pool_cases(operator)
    yield from mean_cases()


def pool_cases(operator):
    def pool(
        name,
        *,
        batch=1,
        image=(5, 6),
        channels=3,
        window=(2, 2),
        stride=None,
        padding="valid",
        activation="none",
        quantization=POOL_QUANTIZATION,
    ):
        stride = stride or window
        options = schema.Pool2DOptionsT()
        options.filterHeight, options.filterWidth = window
        options.strideH, options.strideW = stride
        options.padding = getattr(schema.Padding, padding.upper())
        options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation.upper())
        what = f"window {window[0]}x{window[1]}, stride {stride[0]}x{stride[1]}, {padding}"
        what += f", {activation}" if activation != "none" else ""
        what += f", batch {batch}" if batch > 1 else ""
        operands = [Activation((batch, *image, channels), quantization)]
        return cases(name, what, Op(operator, options), operands, output="same")

    yield from pool("valid")
    yield from pool("same", padding="same")
    yield from pool("same_3x3_stride2", window=(3, 3), stride=(2, 2), padding="same")
    yield from pool("same_3x3_stride1", window=(3, 3), stride=(1, 1), padding="same")
    yield from pool("valid_3x2_stride_1x2", window=(3, 2), stride=(1, 2))
    yield from pool("same_window_over_image", image=(2, 3), window=(5, 5), stride=(1, 1), padding="same")
    yield from pool("whole_image", window=(5, 6))
    yield from pool("whole_image_64_channels", image=(3, 3), channels=64, window=(3, 3))
    yield from pool("stride_over_window", image=(7, 7), window=(2, 2), stride=(3, 3))
    yield from pool("1x1_stride2", window=(1, 1), stride=(2, 2))
    yield from pool("one_channel", channels=1, window=(3, 3), stride=(1, 1))
    yield from pool("channels_17", image=(4, 4), channels=17)
    yield from pool("batch3", batch=3, image=(4, 4))
    yield from pool("batch2_same_3x3", batch=2, image=(4, 5), window=(3, 3), stride=(2, 2), padding="same")
    yield from pool("zero_point_low", quantization=Quantization.tensor(1 / 255, -128), padding="same")
    for activation in "relu", "relu6", "relu_n1_to_1":
        yield from pool(activation, activation=activation, stride=(1, 1))


def mean_cases():
    def mean(name, shape, axes, *, keep=False, output=None, kinds=("f32", "i8")):
        options = schema.ReducerOptionsT()
        options.keepDims = keep
        axes_shape = "x".join(map(str, shape))
        what = f"{axes_shape} over {axes}" + (", keep_dims" if keep else "")
        what += ", quantization kept" if output == "same" else ""
        operands = [Activation(shape), Integers(axes, "axes")]
        return cases(name, what, Op("MEAN", options), operands, output=output, kinds=kinds)

    image = (2, 4, 5, 3)
    for keep in False, True:
        suffix = "_keep" if keep else ""
        yield from mean(f"height_width{suffix}", image, [1, 2], keep=keep)
        yield from mean(f"channels{suffix}", image, [3], keep=keep)
        yield from mean(f"all_of_rank2{suffix}", (3, 5), [0, 1], keep=keep)
        yield from mean(f"last_of_rank3{suffix}", (2, 3, 7), [2], keep=keep)
    yield from mean("width_height", image, [2, 1])
    yield from mean("negative_axes", image, [-2, -3])
    yield from mean("negative_axis_keep", image, [-1], keep=True)
    yield from mean("repeated_axis", image, [1, 1])
    yield from mean("one_axis_width", image, [2])
    yield from mean("batch", image, [0])
    yield from mean("batch_and_channels", image, [0, 3], keep=True)
    yield from mean("first_of_rank2", (4, 6), [0])
    yield from mean("rank1", (9,), [0], keep=True)
    yield from mean("scalar_axis", image, 2)
    yield from mean("single_cell", (1, 1, 1, 8), [1, 2])
    yield from mean("same_quantization", image, [1, 2], output="same", keep=True)
    yield from mean("same_quantization_3x3", (1, 3, 3, 8), [1, 2], output="same")
    yield from mean("same_quantization_8x8", (1, 8, 8, 4), [1, 2], output="same")
    yield from mean("finer_output", image, [1, 2], output=Quantization.tensor(0.006, 40), kinds=("i8",))
    yield from mean("coarser_output", image, [1, 2], output=Quantization.tensor(0.05, -60), kinds=("i8",))
