"""Builds TFLite files of one operator, or a few, through the flatbuffers object layer.

Needs numpy, ml_dtypes, flatbuffers and ai-edge-litert (for its generated schema classes).
"""

from dataclasses import dataclass

import flatbuffers
import ml_dtypes
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

SCHEMA_VERSION = 3
BUFFER_ALIGNMENT = 16
TYPES = {
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.float16): schema.TensorType.FLOAT16,
    np.dtype(ml_dtypes.bfloat16): schema.TensorType.BFLOAT16,
    np.dtype(np.int8): schema.TensorType.INT8,
    np.dtype(np.uint8): schema.TensorType.UINT8,
    np.dtype(np.int16): schema.TensorType.INT16,
    np.dtype(np.int32): schema.TensorType.INT32,
    np.dtype(np.uint32): schema.TensorType.UINT32,
    np.dtype(np.int64): schema.TensorType.INT64,
    np.dtype(np.uint64): schema.TensorType.UINT64,
    np.dtype(np.bool_): schema.TensorType.BOOL,
}


@dataclass(frozen=True)
class Quantization:
    """real = scale * (q - zero_point); more than one scale runs along `axis`."""

    scale: tuple
    zero_point: tuple
    axis: int = 0

    @staticmethod
    def tensor(scale, zero_point):
        """One scale for the whole tensor, rounded to float32 as the file holds it."""
        return Quantization((float(np.float32(scale)),), (int(zero_point),))

    @staticmethod
    def channels(scales, axis):
        """A scale for each index along `axis`, zero points 0."""
        scales = tuple(float(np.float32(scale)) for scale in scales)
        return Quantization(scales, (0,) * len(scales), axis)

    def real(self, quantized):
        """float32 values of an integer array."""
        shape = [1] * quantized.ndim
        if len(self.scale) > 1:
            shape[self.axis] = len(self.scale)
        scale = np.array(self.scale).reshape(shape)
        zero_point = np.array(self.zero_point).reshape(shape)
        return ((quantized.astype(np.int64) - zero_point) * scale).astype(np.float32)


@dataclass(frozen=True)
class Op:
    """An operator with its options, an instance of a generated `...OptionsT` class."""

    name: str
    options: object = None
    version: int = 1


@dataclass(frozen=True)
class Sparse:
    """How the elements of a constant are traversed, of which only some are stored.

    `order`: the axes, and behind them the numbers of the blocks, counted on from the rank.
    `compressed`: levels, as positions in `order`, that list the indices that are not empty.
    `blocks`: the axis and the extent of each.
    """

    order: tuple
    compressed: tuple
    blocks: tuple = ()
    index_type: type = np.int32


@dataclass(frozen=True)
class Custom:
    """A custom operator with its attributes, by name."""

    name: str
    attributes: dict
    version: int = 1


@dataclass(frozen=True)
class Tensor:
    """A tensor of the file; `data` makes it a constant.

    `open`: axes whose extents the file leaves open: it states 1 there, and -1 in the signature.
    `four_bits`: its int8 are stored as int4. `sparse`: only elements that are not 0 are stored.
    `variable`: it is kept from run to run.
    """

    name: str
    shape: tuple
    dtype: type
    quantization: Quantization | None = None
    data: np.ndarray | None = None
    open: tuple = ()
    four_bits: bool = False
    sparse: Sparse | None = None
    variable: bool = False

    @property
    def is_given(self):
        """Whether it is an input of the model, unless an operator makes it."""
        return self.data is None and not self.variable


def build(op, inputs, outputs):
    """The bytes of a model that applies `op`.

    `inputs`: tensors, or None for an operand left out. The model's inputs are
    those without data that are no variables, in order.
    """
    return build_graph([(op, inputs, outputs)])


def build_graph(nodes):
    """The bytes of a model of several operators: (op, inputs, outputs) of each.

    A tensor that one gives and others take is the same object. The model's outputs are
    those of the last operator.
    """
    results = {id(tensor) for _, _, outputs in nodes for tensor in outputs}
    read = [tensor for _, inputs, _ in nodes for tensor in inputs if tensor is not None]
    inputs = {id(tensor): tensor for tensor in read if tensor.is_given and id(tensor) not in results}
    return build_subgraphs([Subgraph(nodes, list(inputs.values()), nodes[-1][2])])


@dataclass(frozen=True)
class Subgraph:
    """Operators, (op, inputs, outputs) of each, with the tensors that they are given and give."""

    nodes: list
    inputs: list
    outputs: list


def build_subgraphs(subgraphs):
    """The bytes of a model of several graphs, the first being the main one."""
    model = schema.ModelT()
    model.version = SCHEMA_VERSION
    model.description = "aot conformance case"
    model.buffers = [schema.BufferT()]
    model.operatorCodes = []
    model.subgraphs = [subgraph_entry(model, position, graph) for position, graph in enumerate(subgraphs)]

    builder = AligningBuilder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def subgraph_entry(model, position, subgraph):
    """The schema's subgraph; operator codes and data go to `model`."""
    graph = schema.SubGraphT()
    graph.name = "main" if position == 0 else f"subgraph_{position}"
    graph.tensors = []
    graph.operators = []
    made = {}

    def add(tensor):
        if tensor is None:
            return -1
        if id(tensor) not in made:
            graph.tensors.append(tensor_entry(tensor, model.buffers))
            made[id(tensor)] = len(graph.tensors) - 1
        return made[id(tensor)]

    for op, inputs, outputs in subgraph.nodes:
        code = schema.OperatorCodeT()
        custom = isinstance(op, Custom)
        code.builtinCode = getattr(schema.BuiltinOperator, "CUSTOM" if custom else op.name)
        code.customCode = op.name if custom else None
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = op.version
        model.operatorCodes.append(code)
        node = schema.OperatorT()
        node.opcodeIndex = len(model.operatorCodes) - 1
        node.inputs = [add(tensor) for tensor in inputs]
        node.outputs = [add(tensor) for tensor in outputs]
        if custom:
            node.customOptions = np.frombuffer(flexbuffers.Dumps(op.attributes), np.uint8)
        elif op.options is not None:
            node.builtinOptions = op.options
            kind = type(op.options).__name__.removesuffix("T")
            node.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        graph.operators.append(node)
    graph.inputs = [add(tensor) for tensor in subgraph.inputs]
    graph.outputs = [add(tensor) for tensor in subgraph.outputs]
    return graph


def tensor_entry(tensor, buffers):
    """The schema's tensor; its data, if any, goes to `buffers`."""
    entry = schema.TensorT()
    entry.name = tensor.name
    entry.shape = [1 if axis in tensor.open else extent for axis, extent in enumerate(tensor.shape)]
    if tensor.open:
        entry.shapeSignature = [-1 if axis in tensor.open else extent for axis, extent in enumerate(tensor.shape)]
    entry.hasRank = True
    entry.type = schema.TensorType.INT4 if tensor.four_bits else TYPES[np.dtype(tensor.dtype)]
    entry.buffer = 0
    entry.isVariable = tensor.variable
    if tensor.data is not None:
        buffer = schema.BufferT()
        data = tensor.data
        if tensor.sparse is not None:
            entry.sparsity, data = sparsity(tensor.sparse, data)
        little_endian = data.astype(np.dtype(tensor.dtype).newbyteorder("<"))
        buffer.data = np.frombuffer(little_endian.tobytes(), np.uint8)
        if tensor.four_bits:
            buffer.data = nibbles(data)
        buffers.append(buffer)
        entry.buffer = len(buffers) - 1
    if tensor.quantization is not None:
        entry.quantization = schema.QuantizationParametersT()
        entry.quantization.scale = list(tensor.quantization.scale)
        entry.quantization.zeroPoint = list(tensor.quantization.zero_point)
        entry.quantization.quantizedDimension = tensor.quantization.axis
    return entry


def nibbles(data):
    """Two elements a byte, the first in its lower half."""
    halves = np.append(data.ravel(), np.zeros(data.size % 2, np.int8)).view(np.uint8) & 15
    return halves[0::2] | halves[1::2] << 4


def sparsity(sparse, data):
    """The schema's parameters, and the elements that they leave, in their order."""
    extents, rank = list(data.shape), data.ndim
    for axis, extent in sparse.blocks:
        extents[axis] //= extent
    # Each axis that is parted becomes two: blocks, and what is in a block.
    shape, position = [], {}
    for axis in range(rank):
        position[axis] = len(shape)
        shape.append(extents[axis])
        for number, (parted, extent) in enumerate(sparse.blocks):
            if parted == axis:
                position[rank + number] = len(shape)
                shape.append(extent)
    tree = data.reshape(shape).transpose([position[axis] for axis in sparse.order])

    parameters = schema.SparsityParametersT()
    parameters.traversalOrder = list(sparse.order)
    parameters.blockMap = [axis for axis, _ in sparse.blocks]
    parameters.dimMetadata = []
    nodes = [()]
    for level in range(tree.ndim):
        dimension = schema.DimensionMetadataT()
        if level in sparse.compressed:
            children = [[i for i in range(tree.shape[level]) if tree[(*node, i)].any()] for node in nodes]
            dimension.format = schema.DimensionType.SPARSE_CSR
            segments = np.cumsum([0, *map(len, children)])
            indices = [i for of_node in children for i in of_node]
            dimension.arraySegmentsType, dimension.arraySegments = index_vector(sparse.index_type, segments)
            dimension.arrayIndicesType, dimension.arrayIndices = index_vector(sparse.index_type, indices)
        else:
            children = [range(tree.shape[level])] * len(nodes)
            dimension.format = schema.DimensionType.DENSE
            dimension.denseSize = tree.shape[level]
        nodes = [(*node, i) for node, of_node in zip(nodes, children, strict=True) for i in of_node]
        parameters.dimMetadata.append(dimension)
    return parameters, np.array([tree[node] for node in nodes], data.dtype)


def index_vector(index_type, values):
    """The type and the table of a vector of indices."""
    kind = {np.int32: "Int32Vector", np.uint16: "Uint16Vector", np.uint8: "Uint8Vector"}[index_type]
    vector = getattr(schema, f"{kind}T")()
    vector.values = np.array(values, index_type)
    return getattr(schema.SparseIndexVector, kind), vector


class AligningBuilder(flatbuffers.Builder):
    """Aligns tensor data as the schema asks (`force_align`), which the object layer forgets."""

    def CreateNumpyVector(self, x):
        if x.dtype == np.uint8:
            self.Prep(BUFFER_ALIGNMENT, x.size)
        return super().CreateNumpyVector(x)
