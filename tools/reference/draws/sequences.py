"""Layers with a state: all sets are steps of one sequence."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import DTYPES, MICRO, Model, near, options, quantized, result, scale, values
from tflite_file import Op, Quantization, Tensor

STEPS = 4
TANH = schema.ActivationFunctionType.TANH


def constant(rng, name, shape, dtype, quantization, largest):
    """Weights or biases of either sign."""
    data = rng.integers(-largest, largest + 1, shape).astype(dtype)
    return Tensor(name, shape, dtype, quantization, data)


def variable(name, shape, dtype, quantization):
    """What is kept from step to step."""
    return Tensor(name, shape, dtype, quantization, variable=True)


def product(a, b):
    """The quantization of sums of products."""
    return Quantization.tensor(np.float32(a.scale[0]) * np.float32(b.scale[0]), 0)


def steps_of(rng, x):
    return [[values(rng, x.shape, x.dtype, x.quantization)] for _ in range(STEPS)]


def svdf(rng, row):
    batch, inputs, units, rank, memory = (int(n) for n in rng.integers(1, (4, 24, 10, 4, 7)))
    filters, state_type = units * rank, rng.choice([np.int8, np.int16])
    span = np.iinfo(state_type).max
    x = Tensor("x", (batch, inputs), np.int8, quantized(rng, np.int8, scale(rng, -8, -3)))
    feature, time = (Quantization.tensor(scale(rng, -9, -4), 0) for _ in range(2))
    # Sums of features of a usual size fill the state's range, or go beyond it.
    sums = x.quantization.scale[0] * feature.scale[0] * 128 * 73 * np.sqrt(inputs)
    state = Quantization.tensor(near(rng, sums / span, 1.5), 0)
    weights = 127 if state_type == np.int8 else 2500
    total = state.scale[0] * time.scale[0] * span * weights * np.sqrt(memory * rank) / 4
    relu = bool(rng.integers(2))
    y = Quantization.tensor(near(rng, total / 100, 1.5), -128 if relu else int(rng.integers(-128, 128)))
    bias = product(state, time)
    size = int(min(total / bias.scale[0], 2**29)) + 1
    operands = [
        x,
        constant(rng, "weights_feature", (filters, inputs), np.int8, feature, 127),
        constant(rng, "weights_time", (filters, memory), state_type, time, weights),
        constant(rng, "bias", (units,), np.int32, bias, size),
        variable("state", (batch, filters * memory), state_type, state),
    ]
    activation = schema.ActivationFunctionType.RELU if relu else schema.ActivationFunctionType.NONE
    fields = {"rank": rank, "fusedActivationFunction": activation, "asymmetricQuantizeInputs": False}
    op = Op("SVDF", options(schema.SVDFOptionsT, **fields), 3)
    return Model(op, operands, [result((batch, units), np.int8, y)], steps_of(rng, x), MICRO)


def lstm(rng, row):
    """Without the peepholes, projection and normalization that no reference has for integers."""
    dtype = DTYPES[row[0]]
    short = dtype == np.int16
    batch, time, inputs, cells = (int(n) for n in rng.integers(1, (4, 6, 20, 20)))
    time_major = bool(rng.integers(2))
    shape = (time, batch, inputs) if time_major else (batch, time, inputs)
    x = Tensor("x", shape, dtype, quantized(rng, dtype, scale(rng, *((-16, -12) if short else (-8, -4)))))
    hidden = Quantization.tensor(
        near(rng, 1 / 32768 if short else 1 / 128, 0.5), 0 if short else int(rng.integers(-20, 21))
    )
    cell = Quantization.tensor(2.0 ** int(rng.integers(-15, -9)), 0)
    usual = [Quantization.tensor(scale(rng, -9, -5), 0) for _ in range(8)]
    operands = [
        x,
        *(constant(rng, f"input_{i}", (cells, inputs), np.int8, usual[i], 127) for i in range(4)),
        *(constant(rng, f"recurrent_{i}", (cells, cells), np.int8, usual[4 + i], 127) for i in range(4)),
        *[None] * 3,
    ]
    for i in range(4):
        bias = product(x.quantization, usual[i])
        operands.append(constant(rng, f"bias_{i}", (cells,), np.int64 if short else np.int32, bias, int(0.5 / bias.scale[0]) + 1))
    operands += [None] * 2
    operands += [variable("hidden", (batch, cells), dtype, hidden)]
    operands += [variable("cell", (batch, cells), np.int16, cell)]
    operands += [None] * 4
    clip = float(rng.choice([0.0, 0.0, 0.7, 3.0]))
    fields = {"fusedActivationFunction": TANH, "timeMajor": time_major, "cellClip": clip}
    op = Op("UNIDIRECTIONAL_SEQUENCE_LSTM", options(schema.UnidirectionalSequenceLSTMOptionsT, **fields))
    y = result((*shape[:-1], cells), dtype, hidden)
    return Model(op, operands, [y], steps_of(rng, x), MICRO)


DRAWS = {"SVDF": svdf, "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm}
