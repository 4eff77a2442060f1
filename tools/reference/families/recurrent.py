"""Recurrent layers: SVDF, LSTM, RNN. Their state is in variable tensors.

Every case is a sequence of runs. int8 comes from TensorFlow Lite Micro, float32 from LiteRT.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from engines import LITERT_REFERENCE
from tflite_file import Op, Quantization, Tensor, build

STEPS = 3
NONE, RELU, RELU_N1_TO_1, RELU6, TANH = 0, 1, 2, 3, 4
X = Quantization.tensor(0.0235, -11)
CELL = Quantization.tensor(2.0**-11, 0)
HIDDEN = Quantization.tensor(1 / 140, -7)
X16 = Quantization.tensor(0.000094, 0)
HIDDEN16 = Quantization.tensor(1 / 35000, 0)
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
    yield svdf_case("svdf_i8_rank2", batch=1, inputs=33, units=4, rank=2, memory=5, loud=True)
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
        Tensor("state", (batch, filters * memory), memory_type, state, None, variable=True),
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
    name = "unidirectional_sequence_lstm_i16"
    yield lstm_case(f"{name}_batch2", batch=2, time=3, inputs=5, cells=7, dtype=np.int16)
    yield lstm_case(f"{name}_time_major", batch=2, time=2, inputs=40, cells=3, dtype=np.int16, time_major=True, scale=0.05)


def lstm_case(name, *, batch, time, inputs, cells, time_major=False, cell_clip=0.0, scale=0.008, cell=CELL, dtype=np.int8):
    rng = seeded(name)
    shape = (time, batch, inputs) if time_major else (batch, time, inputs)
    operands = integer_operands(rng, shape, cells, batch, scale, cell, dtype)
    y = Tensor("y", (*shape[:-1], cells), dtype, HIDDEN if dtype == np.int8 else HIDDEN16)
    return case(name, unidirectional(time_major, cell_clip), operands, [y], rng)


def integer_operands(rng, shape, cells, batch, scale, cell, dtype=np.int8):
    """The operands of an LSTM of integers."""
    x, hidden, bias = (X, HIDDEN, np.int32) if dtype == np.int8 else (X16, HIDDEN16, np.int64)
    scales = [Quantization.tensor(scale * rng.uniform(0.7, 1.4), 0) for _ in range(8)]
    operands = [Tensor("x", shape, dtype, x)]
    for kind, columns, of_kind in ("weights", shape[-1], scales[:4]), ("recurrent", cells, scales[4:]):
        for gate, s in zip(GATES, of_kind):
            operands.append(integers(rng, f"{gate}_{kind}", (cells, columns), np.int8, s))
    operands += [None] * 3
    for gate, s in zip(GATES, scales):
        s = product(x, s)
        operands.append(integers(rng, f"{gate}_bias", (cells,), bias, s, int(0.5 / s.scale[0])))
    operands += [None] * 2
    operands += [Tensor("hidden", (batch, cells), dtype, hidden, None, variable=True)]
    operands += [Tensor("cell_state", (batch, cells), np.int16, cell, None, variable=True)]
    return operands + [None] * 4


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
    plain = dict(merge=True, cifg=False, outputs=(None, None))
    yield bidirectional_case(f"{name}_merged", time_major=True, **plain)
    yield batch_major(f"{name}_merged_batch_major", time_major=False, **plain)
    yield bidirectional_case(f"{name}_apart_time_major", merge=False, time_major=True, cifg=True, outputs=(4, 4))


def batch_major(name, **kinds):
    """LiteRT puts results of the second sequence into wrong rows, but only where it merges."""
    merged, apart = bidirectional_case(name, **kinds), bidirectional_case(name, **kinds | {"merge": False})
    merged.expected = [[np.concatenate(results, -1)] for results in apart.results()[0]]
    merged.expected_from = f"{LITERT_REFERENCE}, with merge_outputs unset; joined here"
    return merged


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
        ends = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
        sets = [rng.integers(*ends, (STEPS, *x.shape), endpoint=True), rng.choice(ends, (STEPS, *x.shape))]
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


def refused_models():
    """(name, reason, op, operands, result) of models that must be refused."""
    rng = seeded("refused")
    y = floats("y", 1, 4)
    operands = [floats("x", 1, 3), weights(rng, "weights_feature", 4, 3), weights(rng, "weights_time", 4, 2), None]
    state = variable("state", 1, 8)
    int8 = integers(rng, "weights_feature", (4, 3), np.int8, Quantization.tensor(0.02, 0))
    hybrid = [operands[0], int8, *operands[2:], state]
    yield "svdf_hybrid", "int8 weights with float32 activations are not supported", svdf_op(1, NONE), hybrid, y
    lost = [*operands, floats("state", 1, 8)]
    yield "svdf_f32_state_not_variable", "operand 4, the state, must be a variable", svdf_op(1, NONE), lost, y
    x, y = floats("x", 1, 2, 3), floats("y", 1, 2, 4)
    states = [variable("hidden", 1, 4), variable("cell_state", 1, 4)]
    relu = unidirectional()
    relu.options.fusedActivationFunction = RELU
    operands = [x, *layer(rng, 3, 4), *states]
    yield "unidirectional_sequence_lstm_f32_relu", "activation 1 must be TANH", relu, operands, y
    operands = [x, *layer(rng, 3, 4, peephole=True), *states]
    operands[10] = None
    reason = "one peephole is left out"
    yield "unidirectional_sequence_lstm_f32_one_peephole", reason, unidirectional(), operands, y
    y = Tensor("y", (1, 2, 4), np.int8, HIDDEN)
    operands = integer_operands(rng, (1, 2, 3), 4, 1, 0.01, CELL)
    operands[9:12] = [weights(rng, f"peephole{i}", 4) for i in range(3)]
    reason = "peepholes are not supported in int8"
    yield "unidirectional_sequence_lstm_i8_peephole", reason, unidirectional(), operands, y
    operands = integer_operands(rng, (1, 2, 3), 4, 1, 0.01, Quantization.tensor(0.001, 0))
    reason = "the scale of the cell state must be a power of two, found 0.001"
    yield "unidirectional_sequence_lstm_i8_cell_scale", reason, unidirectional(), operands, y


def seeded(name):
    return np.random.default_rng(sum(name.encode()))


def floats(name, *shape):
    return Tensor(name, shape, np.float32)


def weights(rng, name, *shape):
    return Tensor(name, shape, np.float32, None, rng.normal(0, 0.6, shape).astype(np.float32))


def variable(name, *shape):
    return Tensor(name, shape, np.float32, None, None, variable=True)


def integers(rng, name, shape, dtype, quantization, largest=127):
    return Tensor(name, shape, dtype, quantization, rng.integers(-largest, largest, shape, dtype, endpoint=True))


def product(a, b):
    return Quantization.tensor(np.float32(a.scale[0]) * np.float32(b.scale[0]), 0)


def meta(tensor):
    kind = np.dtype(tensor.dtype).name.upper()
    if tensor.quantization is None:
        return meta_tensor(tensor.name, tensor.shape, kind)
    return meta_tensor(tensor.name, tensor.shape, kind, tensor.quantization.scale[0], tensor.quantization.zero_point[0])
