"""Writes tests/edges/models: TFLite files at the edges of what a graph can be.

    python edges.py

What each must give follows from what its operators mean, and is computed here; LiteRT is asked,
too, and must agree, where it can run the file. It prints what LiteRT cannot do.

Needs numpy, ml_dtypes, flatbuffers and ai-edge-litert.
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from engines import run_litert_reference
from families.movement import options
from tflite_file import Op, Quantization, Subgraph, Tensor, build_subgraphs, nibbles

FOLDER = Path(__file__).parents[2] / "tests/edges/models"
X = np.array([[1.0, -2.0, 3.5], [-4.0, 5.0, -6.0]], np.float32)
RELU_X = np.maximum(X, 0)


def given(name, array, **extra):
    return Tensor(name, array.shape, array.dtype.type, **extra)


def constant(name, array, **extra):
    return given(name, array, data=array, **extra)


def reshape(shape):
    return Op("RESHAPE", options(schema.ReshapeOptionsT, newShape=list(shape)))


def cases():
    """Name, operators, inputs and outputs with their arrays."""
    x, y, flat = given("x", X), given("y", X), given("flat", X.reshape(6))
    relu, flatten = (Op("RELU"), [x], [y]), (reshape([6]), [y], [flat])
    yield "input_as_output", [], [(x, X)], [(x, X), (x, X)]
    seven = np.array([7, -7], np.int32)
    c = constant("c", seven)
    yield "constant_as_output", [], [(x, X)], [(c, seven), (c, seven)]
    yield "value_twice", [relu], [(x, X)], [(y, RELU_X), (y, RELU_X)]
    yield "value_and_reshape", [relu, flatten], [(x, X)], [(flat, RELU_X.reshape(6)), (y, RELU_X), (x, X)]
    dead = (Op("ABS"), [y], [given("dead", X)])
    unused = given("unused", seven)
    yield "unused", [relu, dead], [(unused, seven), (x, X)], [(y, RELU_X)]
    pieces = [given(f"piece_{i}", X[:, i : i + 1]) for i in range(3)]
    axis = constant("axis", np.array(1, np.int32))
    split = (Op("SPLIT", options(schema.SplitOptionsT, numSplits=3)), [axis, x], pieces)
    yield "split", [split], [(x, X)], [(pieces[1], X[:, 1:2])]
    add = Op("ADD", options(schema.AddOptionsT))
    yield "twice_into_add", [(add, [x, x], [y])], [(x, X)], [(y, X + X)]
    yield "no_outputs", [relu], [(x, X)], []
    two, quarter = np.array(2.0, np.float32), np.array(0.25, np.float32)
    a, b, total = given("a", two), constant("b", quarter), given("total", two)
    yield "scalars", [(add, [a, b], [total])], [(a, two)], [(total, two + quarter), (a, two), (b, quarter)]
    yield from without_elements()
    yield from types()


def without_elements():
    x, y, full = np.zeros((0, 3), np.float32), np.zeros((2, 0), np.float32), X[:1]
    none, more, joined = given("none", x), given("more", full), given("joined", full)
    positive, column = given("positive", x), given("column", np.zeros((3, 0), np.float32))
    concatenation = Op("CONCATENATION", options(schema.ConcatenationOptionsT, axis=0))
    nodes = [
        (concatenation, [none, more], [joined]),
        (Op("RELU"), [none], [positive]),
        (reshape([3, 0]), [positive], [column]),
    ]
    # The file has no bytes for it.
    absent = Tensor("absent", y.shape, np.float32)
    outputs = [(joined, full), (positive, x), (column, x.reshape(3, 0)), (none, x), (absent, y)]
    yield "without_elements", nodes, [(none, x), (more, full)], outputs


def types():
    numbers = np.array([1.0, -2.5, 1000.0], np.float32)
    for dtype, name in [(np.float16, "f16"), (ml_dtypes.bfloat16, "bf16")]:
        array = numbers.astype(dtype)
        x, single, again = given("x", array), given("single", numbers), given("again", array)
        column, c = given("column", array.reshape(3, 1)), constant("c", array)
        nodes = [(Op("CAST"), [x], [single]), (Op("CAST"), [single], [again]), (reshape([3, 1]), [c], [column])]
        wide = array.astype(np.float32)
        yield name, nodes, [(x, array)], [(single, wide), (again, array), (column, array.reshape(3, 1)), (c, array)]

    array, scale = np.array([-8, 7, 0, -1, 3], np.int8), Quantization.tensor(0.5, 0)
    small = {"quantization": scale, "four_bits": True}
    x, wide, column = given("x", array, **small), given("wide", array.astype(np.float32)), given("column", array.reshape(5, 1), **small)
    c, real = constant("c", array, **small), given("real", array.astype(np.float32))
    row = given("row", array.reshape(1, 5), **small)
    nodes = [
        (Op("CAST"), [x], [wide]),
        (reshape([5, 1]), [x], [column]),
        (reshape([1, 5]), [c], [row]),
        (Op("DEQUANTIZE"), [x], [real]),
    ]
    real_numbers = scale.real(array)
    outputs = [(wide, array.astype(np.float32)), (column, array), (row, array), (c, array), (x, array), (real, real_numbers)]
    yield "i4", nodes, [(x, array)], outputs

    for array in [
        np.array([True, False, True]),
        np.array([1 << 40, -1, 7], np.int64),
        np.array([1 << 63, 1, 7], np.uint64),
        np.array([1 << 31, 1, 7], np.uint32),
        np.array([-300, 1, 7], np.int16),
    ]:
        x, column, c = given("x", array), given("column", array.reshape(3, 1)), constant("c", array)
        node = (reshape([3, 1]), [x], [column])
        yield array.dtype.name, [node], [(x, array)], [(column, array.reshape(3, 1)), (c, array), (x, array)]


def stored(tensor, array):
    """The bytes of an array, in hexadecimal digits."""
    return (nibbles(array) if tensor.four_bits else array).tobytes().hex()


def check(name, model, inputs, outputs):
    """LiteRT must give the same, where it can run the model."""
    try:
        [found] = run_litert_reference(model, [[array for _, array in inputs]])
    except Exception as error:
        print(f"{name}: LiteRT cannot run it: {str(error).splitlines()[0][:120]}")
        return
    for (tensor, expected), result in zip(outputs, found, strict=True):
        if result.tobytes() != np.ascontiguousarray(expected).tobytes():
            print(f"{name}: LiteRT gives {result} for `{tensor.name}`, expected {expected}")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, nodes, inputs, outputs in cases():
        graph = Subgraph(nodes, [tensor for tensor, _ in inputs], [tensor for tensor, _ in outputs])
        model = build_subgraphs([graph])
        (FOLDER / f"{name}.tflite").write_bytes(model)
        run = {
            "inputs": [stored(tensor, array) for tensor, array in inputs],
            "outputs": [stored(tensor, array) for tensor, array in outputs],
        }
        (FOLDER / f"{name}.json").write_text(json.dumps(run) + "\n")
        check(name, model, inputs, outputs)


if __name__ == "__main__":
    main()
