"""From an operator and its operands to a case, in float32 and in int8.

The int8 operands are drawn first; the float32 case computes with the real values
that they stand for. Where no output quantization is given it is taken from the
range of the float32 result without its activation function, so that activation
functions have something to cut off.

Needs numpy, flatbuffers, tflite-micro and ai-edge-litert.
"""

import copy
import zlib
from dataclasses import dataclass, field

import numpy as np

from casefiles import tensor as meta_tensor
from engines import LITERT_REFERENCE, TFLITE_MICRO, run_litert_reference, run_tflite_micro
from tflite_file import Op, Quantization, Tensor, build

INT8_RANGE = (-128, 127)


@dataclass(frozen=True)
class Activation:
    """An input of the model. `quantized` fixes its values instead of drawing them."""

    shape: tuple
    quantization: Quantization = Quantization.tensor(0.0235, -11)
    quantized: tuple | None = None


@dataclass(frozen=True)
class Constant(Activation):
    """A constant on the same footing as an activation (the addend of ADD)."""


@dataclass(frozen=True)
class Weights:
    """Weights with one scale, or one for each index along `axis`.

    `fan_in`: how many of them are summed into one output, for scales that keep
    the result of the size of a few units.
    """

    shape: tuple
    fan_in: int
    axis: int | None = None
    zero_point: int = 0


@dataclass(frozen=True)
class Bias:
    """Biases: int32 with the scale of input times weights, or float32."""

    count: int


@dataclass(frozen=True)
class NoBias(Bias):
    """Biases that the model leaves out, of an operator for which LiteRT wants them.

    The float32 case then comes from TensorFlow Lite Micro as well.
    """


@dataclass(frozen=True)
class Integers:
    """An int32 operand that says how, not what: axes, paddings, a shape."""

    values: object
    name: str = "parameters"


@dataclass
class Case:
    """A model, its inputs, and where the expected outputs come from.

    `expected`: computed here instead of run, where the reference is wrong.
    `known`: a value from our list of known faults that the result must equal.
    `steps`: of a model that keeps state, the first extent of all arrays; each set starts
    afresh.
    """

    name: str
    what: str
    model: bytes
    inputs: list
    outputs: list
    sets: list
    engine: str = "micro"
    expected: list | None = None
    expected_from: str | None = None
    known: list | None = field(default=None, repr=False)
    steps: int | None = None

    def results(self):
        """(outputs of each set, where they come from)."""
        if self.expected is not None:
            results, source = self.expected, self.expected_from
        elif self.engine == "micro":
            results, source = self.run(run_tflite_micro), TFLITE_MICRO
        else:
            results, source = self.run(run_litert_reference), LITERT_REFERENCE
        if self.known is not None and results[0][0].ravel().tolist() != self.known:
            raise AssertionError(f"{self.name}: {results[0][0].ravel()}, known is {self.known}")
        return results, source

    def run(self, engine):
        """The outputs of each set from `run_tflite_micro` or `run_litert_reference`."""
        if self.steps is None:
            return engine(self.model, self.sets)
        results = []
        for arrays in self.sets:
            steps = engine(self.model, [[array[k] for array in arrays] for k in range(self.steps)])
            results.append([np.stack(outputs) for outputs in zip(*steps, strict=True)])
        return results


def cases(name, what, op, operands, *, output=None, kinds=("f32", "i8"), seed=0, results=1, declared=(1,), **extra):
    """The cases OPERATOR_f32_NAME and OPERATOR_i8_NAME.

    `output`: None to choose it by range, "same" for that of the first activation,
    or a `Quantization`. `results`: how many there are. `declared`:
    their shape, for operators that must be told. `extra` goes to the int8 case.
    """
    operator = op.name.lower()
    rng = np.random.default_rng([seed, zlib.crc32(f"{operator}/{name}".encode())])
    drawn = [draw(position, operands, rng) for position in range(len(operands))]
    real_sets = [[d.real[k] for d in drawn if d.is_input] for k in range(2)]

    def probe(op):
        """What LiteRT answers in float32; it finds the output shapes by itself."""
        tensors = [d.float_tensor() for d in drawn]
        model = build(op, tensors, [Tensor(y, declared, np.float32) for y in names])
        return run_litert_reference(model, real_sets)[0]

    names = ["y"] if results == 1 else [f"y{i}" for i in range(results)]
    shapes = [result.shape for result in probe(op)]
    made = []
    if "f32" in kinds:
        made.append(
            Case(
                name=f"{operator}_f32_{name}",
                what=f"{operator} f32 {what}",
                model=build(
                    op,
                    [d.float_tensor() for d in drawn if not d.omitted],
                    [Tensor(y, shape, np.float32) for y, shape in zip(names, shapes, strict=True)],
                ),
                inputs=[meta_tensor(d.name, d.shape, "FLOAT32") for d in drawn if d.is_input],
                outputs=[meta_tensor(y, shape, "FLOAT32") for y, shape in zip(names, shapes, strict=True)],
                sets=real_sets[:1],
                engine="micro" if any(d.omitted for d in drawn) else "litert",
            )
        )
    if "i8" in kinds:
        if output is None:
            output = covering(probe(without_activation(op))[0])
        elif output == "same":
            output = next(d.quantization for d in drawn if d.quantization is not None)
        made.append(
            Case(
                name=f"{operator}_i8_{name}",
                what=f"{operator} i8 {what}",
                model=build(
                    Op(op.name, op.options, max(op.version, INT8_VERSIONS.get(op.name, 1))),
                    [d.int8_tensor() for d in drawn if not d.omitted],
                    [Tensor(y, shape, np.int8, output) for y, shape in zip(names, shapes, strict=True)],
                ),
                inputs=[int8_meta(d.name, d.shape, d.quantization) for d in drawn if d.is_input],
                outputs=[int8_meta(y, shape, output) for y, shape in zip(names, shapes, strict=True)],
                sets=[[d.quantized[k] for d in drawn if d.is_input] for k in range(2)],
                **extra,
            )
        )
    return made


def exact(name, op, arrays, *, constants=None, shape=None, y=None, engine="litert", what=None):
    """The case OPERATOR_TYPE_NAME: `arrays` are the inputs, elements stand for themselves.

    `constants`: arrays by their position among the operands. `shape`, `y`: shape and type
    of the result, found by LiteRT and as the first input by default.
    """
    constants = {position: np.asarray(array) for position, array in (constants or {}).items()}
    arrays = [np.asarray(array) for array in arrays]
    inputs, operands = list(arrays), []
    for position in range(len(arrays) + len(constants)):
        data = constants.get(position)
        array = inputs.pop(0) if data is None else data
        operands.append(Tensor(f"x{position}", array.shape, array.dtype, None, data))
    dtype = np.dtype(operands[0].dtype if y is None else y)
    if shape is None:
        y = run_litert_reference(build(op, operands, [Tensor("y", (1,), dtype)]), [arrays])[0][0]
    else:
        y = np.zeros(shape, dtype)
    kind = np.dtype(operands[0].dtype).name.replace("float", "f").replace("int", "i")
    shapes = " ".join(str(list(tensor.shape)) for tensor in operands)
    return Case(
        name=f"{op.name.lower()}_{kind}_{name}",
        what=f"{op.name.lower()} {what or shapes}",
        model=build(op, operands, [Tensor("y", y.shape, y.dtype)]),
        inputs=[
            meta_tensor(tensor.name, tensor.shape, np.dtype(tensor.dtype).name.upper())
            for tensor in operands
            if tensor.data is None
        ],
        outputs=[meta_tensor("y", y.shape, y.dtype.name.upper())],
        sets=[arrays],
        engine=engine,
    )


# The first version of each operator that takes int8.
INT8_VERSIONS = {
    "ADD": 2,
    "AVERAGE_POOL_2D": 2,
    "BATCH_TO_SPACE_ND": 2,
    "BROADCAST_TO": 2,
    "CONCATENATION": 2,
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 4,
    "GATHER": 2,
    "LOGISTIC": 2,
    "MAXIMUM": 2,
    "MAX_POOL_2D": 2,
    "MEAN": 2,
    "MINIMUM": 2,
    "MIRROR_PAD": 2,
    "MUL": 2,
    "PACK": 2,
    "PAD": 2,
    "PADV2": 2,
    "RELU": 2,
    "RELU6": 2,
    "REVERSE_V2": 3,
    "SLICE": 2,
    "SOFTMAX": 2,
    "SPACE_TO_BATCH_ND": 2,
    "SPACE_TO_DEPTH": 2,
    "SPLIT": 2,
    "SPLIT_V": 2,
    "SQUARED_DIFFERENCE": 2,
    "STRIDED_SLICE": 2,
    "SUB": 2,
    "TILE": 2,
    "TRANSPOSE": 2,
    "UNPACK": 2,
}


@dataclass
class Drawn:
    """An operand with values: for each of the two sets, real and quantized."""

    name: str
    shape: tuple
    real: list
    quantized: list
    quantization: Quantization | None
    is_input: bool = False
    absent: bool = False  # index -1 in the list of operands
    omitted: bool = False  # not in the list, but a zero in the probe

    def float_tensor(self):
        return self.tensor(self.real, None)

    def int8_tensor(self):
        return self.tensor(self.quantized, self.quantization)

    def tensor(self, values, quantization):
        if self.absent:
            return None
        data = None if self.is_input else values[0]
        return Tensor(self.name, self.shape, values[0].dtype, quantization, data)


def draw(position, operands, rng):
    """Gives the operand at `position` its values."""
    operand = operands[position]
    match operand:
        case None:
            return Drawn("", (), [], [], None, absent=True)
        case Activation(shape, quantization, fixed):
            if fixed is not None:
                values = [np.array(fixed, np.int8).reshape(shape)] * 2
            else:
                # The second set consists of extremes: it saturates what can saturate.
                extremes = [*INT8_RANGE, quantization.zero_point[0]]
                values = [
                    rng.integers(*INT8_RANGE, shape, np.int8, endpoint=True),
                    rng.choice(np.array(extremes, np.int8), shape),
                ]
            values = [np.asarray(value) for value in values]
            is_input = not isinstance(operand, Constant)
            real = [quantization.real(value) for value in values]
            return Drawn(f"x{position}", shape, real, values, quantization, is_input)
        case Weights(shape):
            quantization = weight_quantization(operand)
            lowest = -127 if operand.zero_point == 0 else -128  # symmetric weights leave -128 out
            values = rng.integers(lowest, 127, shape, np.int8, endpoint=True)
            return Drawn("weights", shape, [quantization.real(values)], [values], quantization)
        case NoBias(count):
            zeros = [np.zeros(count, np.float32)]
            return Drawn("bias", (count,), zeros, [], None, omitted=True)
        case Bias(count):
            quantization = bias_quantization(operands)
            values = rng.normal(0, 1 / np.array(quantization.scale), count).astype(np.int32)
            return Drawn("bias", (count,), [quantization.real(values)], [values], quantization)
        case Integers(values, name):
            array = np.array(values, np.int32)
            return Drawn(name, array.shape, [array], [array], None)


def weight_quantization(weights):
    """Scales that make the sum of products of the size of a few units."""
    usual = 3 / (73 * 1.7 * np.sqrt(weights.fan_in))
    rng = np.random.default_rng(zlib.crc32(repr(weights).encode()))
    if weights.axis is None:
        return Quantization.tensor(usual * rng.uniform(0.7, 1.4), weights.zero_point)
    count = weights.shape[weights.axis]
    return Quantization.channels(usual * np.exp(rng.uniform(-1.2, 0.7, count)), weights.axis)


def bias_quantization(operands):
    """Input scale times weight scale, channel by channel."""
    weights = weight_quantization(operands[1])
    scale = np.float64(operands[0].quantization.scale[0]) * np.array(weights.scale)
    return Quantization.channels(scale, 0)


def covering(values):
    """The int8 quantization whose range holds most of `values`, and zero."""
    low, high = min(0.0, 0.95 * float(values.min())), max(0.0, 0.9 * float(values.max()))
    scale = max(high - low, 1e-3) / 255
    return Quantization.tensor(scale, round(-128 - low / scale))


def without_activation(op):
    """The same operator without its fused activation function."""
    options = copy.copy(op.options)
    if hasattr(options, "fusedActivationFunction"):
        options.fusedActivationFunction = 0
    return Op(op.name, options, op.version)


def int8_meta(name, shape, quantization):
    """An int8 entry of meta.json."""
    return meta_tensor(name, shape, "INT8", quantization.scale[0], quantization.zero_point[0])
