"""Makes `tests/ui/models/unsupported.tflite`: operators that no importer knows.

    python tools/reference/unsupported.py

COMPLEX_ABS twice, RELU, and an operator that is not TensorFlow's own, one after the other.
"""

from pathlib import Path

import flatbuffers
from ai_edge_litert import schema_py_generated as schema

MODEL = Path(__file__).resolve().parents[2] / "tests/ui/models/unsupported.tflite"
CUSTOM = "Vendor_Detection"
NODES = ["COMPLEX_ABS", "RELU", "COMPLEX_ABS", CUSTOM]


def main():
    model = schema.ModelT()
    model.version = 3
    model.description = "made by unsupported.py"
    model.buffers = [schema.BufferT()]
    kinds = sorted(set(NODES))
    model.operatorCodes = [operator_code(kind) for kind in kinds]
    graph = schema.SubGraphT()
    graph.name = "main"
    graph.tensors = [tensor(f"t{index}") for index in range(len(NODES) + 1)]
    graph.operators = [operator(kinds.index(kind), index) for index, kind in enumerate(NODES)]
    graph.inputs, graph.outputs = [0], [len(NODES)]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    MODEL.write_bytes(bytes(builder.Output()))


def operator_code(kind):
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, "CUSTOM" if kind == CUSTOM else kind)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.customCode = CUSTOM if kind == CUSTOM else None
    code.version = 1
    return code


def operator(code, index):
    node = schema.OperatorT()
    node.opcodeIndex = code
    node.inputs, node.outputs = [index], [index + 1]
    return node


def tensor(name):
    entry = schema.TensorT()
    entry.name = name
    entry.shape = [1, 4]
    entry.hasRank = True
    entry.type = schema.TensorType.FLOAT32
    return entry


if __name__ == "__main__":
    main()
