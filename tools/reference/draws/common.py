"""What the draws of all families share: scales, zero points, shapes, values.

A draw is a function of a random generator and a row of types (`("i8", "i8", "i8")`, the
result last) that gives a `Model`. Draws are meant to hurt: scales far apart and powers of
two (ties), zero points at both ends, odd extents, values at the ends of their range.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from tflite_file import Custom, Op, Quantization, Tensor

DTYPES = {
    "f32": np.float32,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u32": np.uint32,
    "u64": np.uint64,
    "bool": np.bool_,
}
ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6")
MICRO, LITERT = "micro", "litert"


@dataclass
class Model:
    """One operator with its operands, and the inputs of each set.

    `engine`: the reference that runs it. `correct`: from the inputs and the reference's
    outputs of all sets to the right outputs, where the reference is known to be wrong; with
    `engine` None it is given no outputs. Every such function says why.
    """

    op: Op | Custom
    operands: list
    results: list
    sets: list
    engine: str | None = MICRO
    correct: Callable | None = None


def legacy(row):
    """The engine: TensorFlow Lite Micro has no kernels for uint8 activations."""
    return LITERT if "u8" in row else MICRO


def options(kind, **fields):
    """An instance of a generated options class with these fields."""
    result = kind()
    for field, value in fields.items():
        assert hasattr(result, field), field
        setattr(result, field, value)
    return result


def activation(rng, among=ACTIVATIONS):
    """A fused activation function, more often none."""
    name = "NONE" if rng.random() < 0.4 else str(rng.choice(among))
    return getattr(schema.ActivationFunctionType, name)


def scale(rng, low=-12.0, high=4.0):
    """A scale between two powers of two; often such a power itself, so that ties happen."""
    exponent = rng.uniform(low, high)
    kind = rng.random()
    if kind < 0.25:
        return 2.0 ** round(exponent)
    if kind < 0.35:  # a decimal number with few digits, as people write them
        return float(f"{2.0**exponent:.1g}")
    return 2.0**exponent


def near(rng, value, spread=3.0):
    """`value` times a factor of 2^-spread to 2^spread, sometimes exactly a power of two."""
    exponent = rng.uniform(-spread, spread)
    if rng.random() < 0.3:
        exponent = round(exponent)
    return float(value) * 2.0**exponent


def zero_point(rng, dtype):
    """0 for int16; otherwise either end, the middle, or anything."""
    if dtype == np.int16:
        return 0
    low, high = limits(dtype)
    return int(rng.choice([low, high, (low + high + 1) // 2, *rng.integers(low, high + 1, 4)]))


def limits(dtype):
    """The least and the greatest integer."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def quantized(rng, dtype, scale_=None):
    """Scale and zero point of a tensor."""
    return Quantization.tensor(scale(rng) if scale_ is None else scale_, zero_point(rng, dtype))


def values(rng, shape, dtype, quantization=None, spread=None):
    """Elements of one set: of the whole range, of its ends, or near the zero point."""
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype == np.float32:
        return (rng.normal(0, spread or 1, shape)).astype(np.float32)
    low, high = limits(dtype) if spread is None else (-spread, spread)
    middle = quantization.zero_point[0] if quantization is not None else 0
    anything = rng.integers(low, high + 1, shape)
    kind = rng.integers(4)
    if kind == 0:
        ends = rng.choice([low, high, middle, low + 1, high - 1], shape)
        anything = np.where(rng.random(shape) < 0.7, ends, anything)
    elif kind == 1:
        anything = np.clip(middle + rng.integers(-9, 10, shape), low, high)
    return anything.astype(dtype)


def sets_of(rng, tensors, count=2):
    """Sets of values for the tensors that are inputs."""
    inputs = [tensor for tensor in tensors if tensor is not None and tensor.data is None]
    return [
        [values(rng, tensor.shape, np.dtype(tensor.dtype).type, tensor.quantization) for tensor in inputs]
        for _ in range(count)
    ]


def operand(rng, name, shape, dtype, quantization=None, constant=0.0):
    """An input of the model or, with the probability `constant`, a constant."""
    data = values(rng, shape, dtype, quantization) if rng.random() < constant else None
    return Tensor(name, tuple(shape), dtype, quantization, data)


def integers(name, array, dtype=np.int32):
    """A constant that says how, not what: axes, paddings, a shape."""
    array = np.asarray(array, dtype)
    return Tensor(name, array.shape, dtype, None, array)


def extents(rng, rank, elements=400):
    """A shape of about as many elements; odd extents and ones are frequent."""
    side = max(2.0, elements ** (1 / max(rank, 1)))
    # `max`: at least 1 remains for each axis.
    return tuple(max(1, int(round(side * 2.0 ** rng.uniform(-1.5, 0.8)))) for _ in range(rank))


def broadcast_pair(rng, most_rank=4, elements=300):
    """Two shapes that can be broadcast: equal ones, vectors, scalars, ones on either side."""
    rank = int(rng.integers(1, most_rank + 1))
    full = extents(rng, rank, elements)
    pair = []
    for _ in range(2):
        kind = rng.random()
        shape = full
        if kind < 0.25:
            shape = tuple(1 if rng.random() < 0.5 else extent for extent in full)
        elif kind < 0.4:
            shape = full[int(rng.integers(0, rank)) :]
        pair.append(shape)
    if rng.random() < 0.06:
        pair[int(rng.integers(2))] = ()
    return pair


def result(shape, dtype, quantization=None, name="y"):
    """The result of an operator."""
    return Tensor(name, tuple(shape), dtype, quantization)


def one_to_one(rng, op, x, y, engine=MICRO, **extra):
    """A model of one operand and one result."""
    return Model(op, [x], [y], sets_of(rng, [x]), engine, **extra)
