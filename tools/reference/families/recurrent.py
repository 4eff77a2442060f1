"""Recurrent layers: SVDF, LSTM, RNN. Their state is in variable tensors.

Every case is a sequence of runs. int8 comes from TensorFlow Lite Micro, float32 from LiteRT.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from tflite_file import Op, Quantization, Tensor, build

STEPS = 3
NONE, RELU, RELU_N1_TO_1, RELU6, TANH = 0, 1, 2, 3, 4
X = Quantization.tensor(0.0235, -11)
CELL = Quantization.tensor(2.0**-11, 0)
HIDDEN = Quantization.tensor(1 / 140, -7)
GATES = "input", "forget", "cell", "output"


def all_cases():
    yield from svdf()
    yield from svdf_i8()
    yield from lstm()
    yield from lstm_i8()
    yield from rnn()
    yield from bidirectional()


def svdf():
    yield svdf_f32("svdf_f32_batch2_rank1_relu6", batch=2, inputs=3, units=5, rank=1, memory=4, activation=RELU6)
    yield svdf_f32("svdf_f32_rank3_no_bias", batch=1, inputs=19, units=7, rank=3, memory=1, bias=False)


def svdf_f32(name, *, batch, inputs, units, rank, memory, activation=NONE, bias=True):
    rng, filters = seeded(name), units * rank
    operands = [
        floats("x", batch, inputs),
        weights(rng, "weights_feature", filters, inputs),
        weights(rng, "weights_time", filters, memory),
        weights(rng, "bias", units) if bias else None,
        variable("state", batch, filters * memory),
    ]
    return case(name, svdf_op(rank, activation), operands, [floats("y", batch, units)], rng)


def svdf_i8():
    yield svdf_case("svdf_i8_batch2_rank1_relu", batch=2, inputs=5, units=9, rank=1, memory=3, activation=RELU)
    yield svdf_case("svdf_i8_rank2", batch=1, inputs=33, units=4, rank=2, memory=5, bias=False, loud=True)
    memory8 = Quantization.tensor(0.05, 0)
    yield svdf_case("svdf_i8_memory_i8", batch=2, inputs=6, units=5, rank=2, memory=4, activation=RELU, state=memory8)


def svdf_case(name, *, batch, inputs, units, rank, memory, activation=NONE, bias=True, state=None, loud=False):
    rng, filters = seeded(name), units * rank
    memory_type = np.int16 if state is None else np.int8
    feature, time = Quantization.tensor(0.013, 0), Quantization.tensor(0.00037 if state is None else 0.011, 0)
    # Loud features leave the range of the state.
    state = state or Quantization.tensor(0.00007 if loud else 0.0005, 0)
    y = Quantization.tensor(0.11, -128 if activation == RELU else 3)
    largest = 2500 if state.scale[0] < 0.01 else 127
    operands = [
        Tensor("x", (batch, inputs), np.int8, X),
        integers(rng, "weights_feature", (filters, inputs), np.int8, feature),
        integers(rng, "weights_time", (filters, memory), memory_type, time, largest),
        integers(rng, "bias", (units,), np.int32, product(state, time), 200000 if memory_type == np.int16 else 2000)
        if bias
        else None,
        Tensor("state", (batch, filters * memory), memory_type, state, None, True),
    ]
    return case(name, svdf_op(rank, activation, 3), operands, [Tensor("y", (batch, units), np.int8, y)], rng)


def svdf_op(rank, activation, version=1):
    options = schema.SVDFOptionsT()
    options.rank, options.fusedActivationFunction = rank, activation
    options.asymmetricQuantizeInputs = False
    return Op("SVDF", options, version)


def lstm():
    plain = dict(batch=2, time=3, inputs=3, cells=5)
    yield lstm_f32("unidirectional_sequence_lstm_f32_batch2", **plain, cell_clip=0.4)
    yield lstm_f32("unidirectional_sequence_lstm_f32_time_major", **plain, time_major=True)
    yield lstm_f32("unidirectional_sequence_lstm_f32_cifg_peephole", **plain, cifg=True, peephole=True)
    yield lstm_f32("unidirectional_sequence_lstm_f32_projection", **plain, peephole=True, outputs=4, clip=0.3)
    yield lstm_f32("unidirectional_sequence_lstm_f32_norm", **plain, norm=True, peephole=True, outputs=6, bias=False)
    yield lstm_f32("unidirectional_sequence_lstm_f32_norm_cifg_one_step", batch=1, time=1, inputs=18, cells=17, norm=True, cifg=True)
    yield lstm_f32("lstm_f32_batch2", batch=2, time=None, inputs=4, cells=3)


def lstm_f32(name, *, batch, time, inputs, cells, outputs=None, time_major=False, cell_clip=0.0, clip=0.0, norm=False, **kinds):
    rng = seeded(name)
    shape = (batch, inputs) if time is None else (time, batch, inputs) if time_major else (batch, time, inputs)
    operands = [floats("x", *shape), *layer(rng, inputs, cells, outputs, **kinds)]
    operands += [variable("hidden", batch, outputs or cells), variable("cell_state", batch, cells)]
    if norm:
        operands += [weights(rng, f"{gate}_norm", cells) for gate in GATES]
        if kinds.get("cifg"):
            operands[20] = None
    options = schema.LSTMOptionsT() if time is None else schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction, options.cellClip, options.projClip = TANH, cell_clip, clip
    if time is not None:
        options.timeMajor = time_major
    op = Op("LSTM" if time is None else "UNIDIRECTIONAL_SEQUENCE_LSTM", options)
    return case(name, op, operands, [floats("y", *shape[:-1], outputs or cells)], rng)


def layer(rng, inputs, cells, outputs=None, *, cifg=False, peephole=False, bias=True, prefix=""):
    """The operands of a layer: weights of input and hidden state, peepholes, biases, projection."""
    gates = [None if cifg and gate == "input" else f"{prefix}{gate}" for gate in GATES]
    peepholes = [gates[0], gates[1], gates[3]] if peephole else [None] * 3

    def all_of(kind, names, *shape):
        return [name and weights(rng, f"{name}_{kind}", *shape) for name in names]

    return [
        *all_of("weights", gates, cells, inputs),
        *all_of("recurrent", gates, cells, outputs or cells),
        *all_of("peephole", peepholes, cells),
        *all_of("bias", gates, cells),
        weights(rng, f"{prefix}projection", outputs, cells) if outputs else None,
        weights(rng, f"{prefix}projection_bias", outputs) if outputs and bias else None,
    ]


def lstm_i8():
    name = "unidirectional_sequence_lstm_i8"
    yield lstm_case(f"{name}_batch2", batch=2, time=3, inputs=5, cells=7)
    yield lstm_case(f"{name}_time_major_clip", batch=2, time=4, inputs=19, cells=18, time_major=True, cell_clip=0.7)
    yield lstm_case(f"{name}_loud", batch=1, time=5, inputs=3, cells=6, scale=0.09, cell=Quantization.tensor(2.0**-15, 0))
    yield lstm_case(f"{name}_one_step", batch=3, time=1, inputs=4, cells=5, cell=Quantization.tensor(2.0**-10, 0))


def lstm_case(name, *, batch, time, inputs, cells, time_major=False, cell_clip=0.0, scale=0.008, cell=CELL):
    rng = seeded(name)
    shape = (time, batch, inputs) if time_major else (batch, time, inputs)
    scales = [Quantization.tensor(scale * rng.uniform(0.7, 1.4), 0) for _ in range(8)]
    operands = [Tensor("x", shape, np.int8, X)]
    operands += [integers(rng, f"{gate}_weights", (cells, inputs), np.int8, s) for gate, s in zip(GATES, scales)]
    operands += [integers(rng, f"{gate}_recurrent", (cells, cells), np.int8, s) for gate, s in zip(GATES, scales[4:])]
    operands += [None] * 3
    operands += [
        integers(rng, f"{gate}_bias", (cells,), np.int32, product(X, s), int(0.5 / product(X, s).scale[0]))
        for gate, s in zip(GATES, scales)
    ]
    operands += [None] * 2
    operands += [Tensor("hidden", (batch, cells), np.int8, HIDDEN, None, True)]
    operands += [Tensor("cell_state", (batch, cells), np.int16, cell, None, True)]
    operands += [None] * 4
    y = Tensor("y", (*shape[:-1], cells), np.int8, HIDDEN)
    return case(name, unidirectional(time_major, cell_clip), operands, [y], rng)


def unidirectional(time_major=False, cell_clip=0.0):
    options = schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction, options.timeMajor, options.cellClip = TANH, time_major, cell_clip
    return Op("UNIDIRECTIONAL_SEQUENCE_LSTM", options)


def rnn():
    options = schema.SequenceRNNOptionsT()
    options.timeMajor, options.fusedActivationFunction = True, TANH
    op = Op("UNIDIRECTIONAL_SEQUENCE_RNN", options)
    yield rnn_case("unidirectional_sequence_rnn_f32_time_major_tanh", op, (4, 2, 3), 5, 2)
    options = schema.SequenceRNNOptionsT()
    options.timeMajor, options.fusedActivationFunction = False, RELU
    op = Op("UNIDIRECTIONAL_SEQUENCE_RNN", options)
    yield rnn_case("unidirectional_sequence_rnn_f32_batch2_relu", op, (2, 3, 4), 17, 2)
    options = schema.RNNOptionsT()
    options.fusedActivationFunction = RELU_N1_TO_1
    yield rnn_case("rnn_f32_relu_n1_to_1", Op("RNN", options), (2, 3), 4, 2)


def rnn_case(name, op, shape, units, batch):
    rng = seeded(name)
    operands = [
        floats("x", *shape),
        weights(rng, "weights", units, shape[-1]),
        weights(rng, "recurrent", units, units),
        weights(rng, "bias", units),
        variable("hidden", batch, units),
    ]
    return case(name, op, operands, [floats("y", *shape[:-1], units)], rng)


def bidirectional():
    name = "bidirectional_sequence_lstm_f32"
    yield bidirectional_case(f"{name}_merged", merge=True, time_major=False, cifg=False, outputs=(None, None))
    yield bidirectional_case(f"{name}_apart_time_major", merge=False, time_major=True, cifg=True, outputs=(4, None))


def bidirectional_case(name, *, merge, time_major, cifg, outputs, batch=2, time=3, inputs=3, cells=5):
    rng = seeded(name)
    shape = (time, batch, inputs) if time_major else (batch, time, inputs)
    operands = [floats("x", *shape)]
    for prefix, projected in zip(("forward_", "backward_"), outputs):
        operands += layer(rng, inputs, cells, projected, cifg=cifg, prefix=prefix)
    widths = [projected or cells for projected in outputs]
    for prefix, width in zip(("forward", "backward"), widths):
        operands += [variable(f"{prefix}_hidden", batch, width), variable(f"{prefix}_cell_state", batch, cells)]
    operands += [None] * 9
    options = schema.BidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction, options.mergeOutputs, options.timeMajor = TANH, merge, time_major
    options.cellClip, options.projClip = 0.5, 0.0
    widths = [sum(widths)] if merge else widths
    results = [floats(f"y{i}", *shape[:-1], width) for i, width in enumerate(widths)]
    return case(name, Op("BIDIRECTIONAL_SEQUENCE_LSTM", options), operands, results, rng)


def case(name, op, operands, results, rng):
    """Two sequences; the second consists of extremes."""
    x = operands[0]
    if x.dtype == np.float32:
        sets = [rng.normal(size=(STEPS, *x.shape)), rng.choice([-3.0, 0.0, 3.0], (STEPS, *x.shape))]
    else:
        sets = [rng.integers(-128, 128, (STEPS, *x.shape)), rng.choice([-128, 127], (STEPS, *x.shape))]
    return Case(
        name=name,
        what=f"{op.name.lower()} {np.dtype(x.dtype).name} {list(x.shape)}",
        model=build(op, operands, results),
        inputs=[meta(x)],
        outputs=[meta(result) for result in results],
        sets=[[array.astype(x.dtype)] for array in sets],
        engine="litert" if x.dtype == np.float32 else "micro",
        steps=STEPS,
    )


def seeded(name):
    return np.random.default_rng(sum(name.encode()))


def floats(name, *shape):
    return Tensor(name, shape, np.float32)


def weights(rng, name, *shape):
    return Tensor(name, shape, np.float32, None, rng.normal(0, 0.6, shape).astype(np.float32))


def variable(name, *shape):
    return Tensor(name, shape, np.float32, None, None, True)


def integers(rng, name, shape, dtype, quantization, largest=127):
    return Tensor(name, shape, dtype, quantization, rng.integers(-largest, largest, shape, dtype, endpoint=True))


def product(a, b):
    return Quantization.tensor(np.float32(a.scale[0]) * np.float32(b.scale[0]), 0)


def meta(tensor):
    kind = np.dtype(tensor.dtype).name.upper()
    if tensor.quantization is None:
        return meta_tensor(tensor.name, tensor.shape, kind)
    return meta_tensor(tensor.name, tensor.shape, kind, tensor.quantization.scale[0], tensor.quantization.zero_point[0])
