"""FULLY_CONNECTED."""

from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Bias, Weights, cases
from tflite_file import Op, Quantization

PER_CHANNEL_VERSION = 12
KEEP_DIMENSIONS_VERSION = 5


def all_cases():
    yield from fully_connected("per_tensor")
    yield from fully_connected("per_channel", per_channel=True)
    for activation in "relu", "relu6", "relu_n1_to_1":
        yield from fully_connected(activation, units=16, activation=activation)
        yield from fully_connected(
            f"per_channel_{activation}", units=16, activation=activation, per_channel=True
        )
    yield from fully_connected("one_to_one", depth=1, units=1)
    yield from fully_connected("one_unit", depth=33, units=1)
    yield from fully_connected("depth_17_units_17", depth=17, units=17)
    yield from fully_connected("depth_300", depth=300, units=3, batch=(1,))
    yield from fully_connected("batch5", batch=(5,))
    yield from fully_connected("batch3_per_channel_relu", batch=(3,), per_channel=True, activation="relu")
    yield from fully_connected("no_bias", bias=False)
    yield from fully_connected("no_bias_per_channel_batch2", bias=False, per_channel=True, batch=(2,))
    yield from fully_connected("rank1_input", batch=())
    yield from fully_connected("rank3_input", batch=(2, 3))
    yield from fully_connected("rank4_input_flattened", batch=(2,), inner=(2, 3, 4))
    yield from fully_connected("rows_span_depth", batch=(2,), inner=(2, 5), depth=5)
    yield from fully_connected("rank3_keep_dims", batch=(2, 3), keep=True)
    yield from fully_connected("rank4_keep_dims_per_channel", batch=(2, 1, 3), keep=True, per_channel=True)
    for zero_point in 5, -128, 127:
        yield from fully_connected(
            f"weight_zero_point_{zero_point}".replace("-", "minus_"),
            weight_zero_point=zero_point,
            kinds=("i8",),
        )
    yield from fully_connected(
        "weight_zero_point_batch2_relu", weight_zero_point=-7, batch=(2,), activation="relu", kinds=("i8",)
    )
    yield from fully_connected("weight_zero_point_no_bias", weight_zero_point=31, bias=False, kinds=("i8",))
    yield from fully_connected(
        "input_zero_point_low", quantization=Quantization.tensor(1 / 255, -128), kinds=("i8",)
    )
    yield from fully_connected(
        "multiplier_over_1",
        depth=1,
        units=16,
        bias=False,
        quantized=(-10,),
        output=Quantization.tensor(0.0004, -9),
        kinds=("i8",),
    )
    yield from fully_connected("coarse_output", output=Quantization.tensor(0.6, 3), kinds=("i8",))


def fully_connected(
    name,
    *,
    batch=(1,),
    inner=None,
    depth=12,
    units=7,
    activation="none",
    bias=True,
    per_channel=False,
    weight_zero_point=0,
    keep=False,
    quantization=Activation.quantization,
    quantized=None,
    output=None,
    kinds=("f32", "i8"),
):
    """`inner`: the input's dimensions after the batch, if not just `depth`."""
    options = schema.FullyConnectedOptionsT()
    options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation.upper())
    options.keepNumDims = keep
    if inner is not None and depth == 12:
        depth = inner[0] * inner[1] * inner[2]
    operands = [
        Activation((*batch, *(inner or (depth,))), quantization, quantized),
        Weights((units, depth), depth, 0 if per_channel else None, weight_zero_point),
        Bias(units) if bias else None,
    ]
    parts = [
        f"input {'x'.join(map(str, operands[0].shape))}, {units} units",
        activation if activation != "none" else "",
        "per channel" if per_channel else "per tensor",
        "" if bias else "no bias",
        f"weight zero point {weight_zero_point}" if weight_zero_point else "",
        "keep_num_dims" if keep else "",
    ]
    version = PER_CHANNEL_VERSION if per_channel else KEEP_DIMENSIONS_VERSION if keep else 1
    op = Op("FULLY_CONNECTED", options, version)
    what = ", ".join(part for part in parts if part)
    return cases(name, what, op, operands, output=output, kinds=kinds)
