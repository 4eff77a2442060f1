"""Functions of two elements, comparisons, and the choice between two elements."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import (
    DTYPES,
    LITERT,
    Model,
    activation,
    broadcast_pair,
    extents,
    legacy,
    limits,
    near,
    operand,
    options,
    quantized,
    result,
    scale,
    sets_of,
    zero_point,
)
from fixed_point import overflowing_quotients
from tflite_file import Op, Quantization


def binary(rng, row, op, scales, y_scale, constant=0.15):
    """A function of two operands that are broadcast."""
    dtype = DTYPES[row[0]]
    shapes = broadcast_pair(rng)
    quantizations = [quantized(rng, dtype, scale_) for scale_ in scales]
    operands = [
        operand(rng, f"x{i}", shape, dtype, quantization)
        for i, (shape, quantization) in enumerate(zip(shapes, quantizations))
    ]
    if rng.random() < constant:
        i = int(rng.integers(2))
        operands[i] = operand(rng, f"x{i}", shapes[i], dtype, quantizations[i], constant=1.0)
    y_type = DTYPES[row[-1]]
    y = None if y_scale is None else quantized(rng, y_type, y_scale)
    y = result(np.broadcast_shapes(*shapes), y_type, y)
    return Model(op, operands, [y], sets_of(rng, operands), legacy(row))


def two_scales(rng):
    """Two scales, up to 2^12 apart."""
    first = scale(rng, -10, 2)
    return [first, first * 2.0 ** (rng.uniform(-12, 12) if rng.random() < 0.5 else rng.integers(-3, 4))]


def sum_of_two(name, kind):
    def draw(rng, row):
        fields = {"potScaleInt16": False, "fusedActivationFunction": activation(rng)}
        scales = two_scales(rng)
        return binary(
            rng, row, Op(name, options(kind, **fields), 2), scales, near(rng, max(scales), 2.5)
        )

    return draw


def product(rng, row):
    op = Op("MUL", options(schema.MulOptionsT, fusedActivationFunction=activation(rng)), 2)
    scales = two_scales(rng)
    largest = limits(DTYPES[row[0]])[1]
    return binary(rng, row, op, scales, near(rng, scales[0] * scales[1] * largest, 4))


def squared_difference(rng, row):
    op = Op("SQUARED_DIFFERENCE", options(schema.SquaredDifferenceOptionsT), 2)
    scales = two_scales(rng)
    largest = limits(DTYPES[row[0]])[1]
    return binary(rng, row, op, scales, near(rng, max(scales) ** 2 * largest, 3))


def quotient(rng, row):
    """Nothing is divided by 0, for which there is no result."""
    op = Op("DIV", options(schema.DivOptionsT, fusedActivationFunction=activation(rng)), 2)
    scales = two_scales(rng)
    model = binary(rng, row, op, scales, near(rng, scales[0] / scales[1] / 8, 4), constant=0)
    zero = model.operands[1].quantization.zero_point[0]
    for inputs in model.sets:
        dtype = np.dtype(model.operands[1].dtype)
        other = dtype.type(zero + 1 if zero < limits(dtype)[1] else zero - 1)
        inputs[1] = np.where(inputs[1] == zero, other, inputs[1])
    model.correct = lambda sets, outputs: [
        [without_overflow(model, a, b, y)] for (a, b), (y,) in zip(sets, outputs)
    ]
    return model


def without_overflow(model, a, b, y):
    """The zero point where a quotient is that small."""
    (p, q), r = (operand.quantization for operand in model.operands), model.results[0].quantization
    differences = a.astype(int) - p.zero_point[0], b.astype(int) - q.zero_point[0]
    overflows = overflowing_quotients(*differences, p.scale[0] / (q.scale[0] * r.scale[0]))
    return np.where(overflows, y.dtype.type(r.zero_point[0]), y)


def lesser_or_greater(name):
    def draw(rng, row):
        model = binary(rng, row, Op(name, schema.MaximumMinimumOptionsT(), 2), [0.1, 0.1], 0.1)
        return with_one_quantization(rng, model)

    return draw


def with_one_quantization(rng, model):
    """The model with equal scales and zero points everywhere."""
    dtype = np.dtype(model.operands[0].dtype).type
    shared = Quantization.tensor(scale(rng), zero_point(rng, dtype))
    for tensor in [*model.operands, *model.results]:
        if tensor.quantization is not None:
            object.__setattr__(tensor, "quantization", shared)
    return model


def comparison(name, kind):
    def draw(rng, row):
        # tflite-micro ends the process where a scale is 1 or more.
        scales = [min(scale_, 0.99) for scale_ in two_scales(rng)]
        if rng.random() < 0.3:
            scales[1] = scales[0]
        model = binary(rng, row, Op(name, kind(), 2), scales, None)
        if row[0] == "i16":
            # LiteRT finds numbers equal that are next to each other. Of one scale, the
            # integers are compared.
            model = with_one_quantization(rng, model)
            fixed = [operand.data for operand in model.operands]
            model.engine = None
            model.correct = lambda sets, _: [[compared(name, fixed, arrays)] for arrays in sets]
        return model

    return draw


def compared(name, fixed, arrays):
    """Constants and inputs, in the order of the operands."""
    arrays = list(arrays)
    return getattr(np, name.lower())(*(arrays.pop(0) if data is None else data for data in fixed))


def select(rng, row):
    """SELECT: the condition is of the operands' shape, or a vector along the first axis."""
    shape = extents(rng, int(rng.integers(1, 5)))
    condition = shape[:1] if rng.random() < 0.4 else shape
    return selection(rng, row, Op("SELECT", schema.SelectOptionsT()), (condition, shape, shape))


def select_v2(rng, row):
    a, b = broadcast_pair(rng)
    shape = np.broadcast_shapes(a, b)
    condition = tuple(1 if rng.random() < 0.3 else extent for extent in shape)
    return selection(rng, row, Op("SELECT_V2", schema.SelectV2OptionsT()), (condition, a, b))


def selection(rng, row, op, shapes):
    """Elements are moved, whatever they stand for; all have one quantization."""
    dtype = DTYPES[row[1]]
    shared = quantized(rng, dtype)
    operands = [
        operand(rng, f"x{i}", shape, np.bool_ if i == 0 else dtype, None if i == 0 else shared)
        for i, shape in enumerate(shapes)
    ]
    y = result(np.broadcast_shapes(*shapes) if op.name == "SELECT_V2" else shapes[1], dtype, shared)
    return Model(op, operands, [y], sets_of(rng, operands), LITERT)


DRAWS = {
    "ADD": sum_of_two("ADD", schema.AddOptionsT),
    "DIV": quotient,
    "EQUAL": comparison("EQUAL", schema.EqualOptionsT),
    "GREATER": comparison("GREATER", schema.GreaterOptionsT),
    "GREATER_EQUAL": comparison("GREATER_EQUAL", schema.GreaterEqualOptionsT),
    "LESS": comparison("LESS", schema.LessOptionsT),
    "LESS_EQUAL": comparison("LESS_EQUAL", schema.LessEqualOptionsT),
    "MAXIMUM": lesser_or_greater("MAXIMUM"),
    "MINIMUM": lesser_or_greater("MINIMUM"),
    "MUL": product,
    "NOT_EQUAL": comparison("NOT_EQUAL", schema.NotEqualOptionsT),
    "SELECT": select,
    "SELECT_V2": select_v2,
    "SQUARED_DIFFERENCE": squared_difference,
    "SUB": sum_of_two("SUB", schema.SubOptionsT),
}
