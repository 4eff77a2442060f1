"""Operators that move elements, or change nothing but the shape."""

import math

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import (
    DTYPES,
    LITERT,
    MICRO,
    Model,
    extents,
    integers,
    operand,
    options,
    quantized,
    result,
    sets_of,
)
from tflite_file import Op, Tensor

ONE_SHAPE = 200  # elements, about


def by_numpy(model, function):
    """The model with results that numpy makes: neither reference has this for int16."""
    if model.results[0].dtype == np.int16:
        model.engine, model.correct = None, lambda sets, _: [[function(*arrays)] for arrays in sets]
    return model


def moved(rng, row, op, shape, y_shapes, constants=(), engine=MICRO, data_first=True, count=1):
    """`count` operands of one shape, or of the shapes in `shape`, moved to `y_shapes`."""
    dtype = DTYPES[row[0]]
    q = quantized(rng, dtype) if dtype not in (np.int32, np.int64, np.bool_, np.float32) else None
    shapes = shape if isinstance(shape, list) else [shape] * count
    data = [Tensor(f"x{i}", s, dtype, q) for i, s in enumerate(shapes)]
    operands = [*data, *constants] if data_first else [*constants, *data]
    results = [result(y_shape, dtype, q, f"y{i}") for i, y_shape in enumerate(y_shapes)]
    # TensorFlow Lite Micro moves int8 and int16, but hardly any uint8.
    return Model(op, operands, results, sets_of(rng, data), LITERT if row[0] == "u8" else engine)


def shape_of(rng, most=4, elements=ONE_SHAPE):
    return extents(rng, int(rng.integers(1, most + 1)), elements)


def axis_of(rng, shape):
    """An axis, and how the file states it: from either end."""
    axis = int(rng.integers(len(shape)))
    return axis, axis - len(shape) if rng.random() < 0.4 else axis


def replaced(shape, axis, extent):
    return (*shape[:axis], int(extent), *shape[axis + 1 :])


def concatenation(rng, row):
    shape = shape_of(rng)
    axis, stated = axis_of(rng, shape)
    sizes = [int(size) for size in rng.integers(1, 6, int(rng.integers(1, 5)))]
    op = Op("CONCATENATION", options(schema.ConcatenationOptionsT, axis=stated), 2)
    y = replaced(shape, axis, sum(sizes))
    return moved(rng, row, op, [replaced(shape, axis, size) for size in sizes], [y])


def pack(rng, row):
    shape, count = shape_of(rng, 3), int(rng.integers(1, 5))
    axis = int(rng.integers(len(shape) + 1))
    stated = axis - len(shape) - 1 if rng.random() < 0.4 else axis
    op = Op("PACK", options(schema.PackOptionsT, valuesCount=count, axis=stated), 2)
    return moved(rng, row, op, shape, [(*shape[:axis], count, *shape[axis:])], count=count)


def unpack(rng, row):
    shape = shape_of(rng)
    axis, stated = axis_of(rng, shape)
    op = Op("UNPACK", options(schema.UnpackOptionsT, num=shape[axis], axis=stated), 2)
    return moved(rng, row, op, shape, [shape[:axis] + shape[axis + 1 :]] * shape[axis])


def split(rng, row):
    shape = shape_of(rng)
    axis, stated = axis_of(rng, shape)
    pieces, size = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    op = Op("SPLIT", options(schema.SplitOptionsT, numSplits=pieces), 2)
    shape, y = replaced(shape, axis, pieces * size), replaced(shape, axis, size)
    return moved(rng, row, op, shape, [y] * pieces, [integers("axis", stated)], data_first=False)


def split_v(rng, row):
    shape = shape_of(rng)
    axis, stated = axis_of(rng, shape)
    sizes = [int(size) for size in rng.integers(1, 5, int(rng.integers(1, 5)))]
    given = list(sizes)
    if rng.random() < 0.4:
        given[int(rng.integers(len(sizes)))] = -1
    op = Op("SPLIT_V", options(schema.SplitVOptionsT, numSplits=len(sizes)), 2)
    constants = [integers("sizes", given), integers("axis", stated)]
    shape, results = replaced(shape, axis, sum(sizes)), [replaced(shape, axis, size) for size in sizes]
    return moved(rng, row, op, shape, results, constants)


def slice_(rng, row):
    shape = shape_of(rng)
    begin = [int(rng.integers(extent)) for extent in shape]
    size = [int(rng.integers(1, extent - first + 1)) for extent, first in zip(shape, begin)]
    given = [-1 if rng.random() < 0.2 else s for s in size]
    size = [extent - first if g == -1 else g for extent, first, g in zip(shape, begin, given)]
    constants = [integers("begin", begin), integers("size", given)]
    return moved(rng, row, Op("SLICE", schema.SliceOptionsT(), 2), shape, [size], constants)


def strided_slice(rng, row):
    """Strides of either direction, indices from either end and beyond, and masks."""
    shape = shape_of(rng)
    begin, end, strides, masks, y = [], [], [], {"beginMask": 0, "endMask": 0, "shrinkAxisMask": 0}, []
    for axis, extent in enumerate(shape):
        while True:
            stride = int(rng.choice([1, 1, 2, 3, -1, -2]))
            first, last = (int(index) for index in rng.integers(-extent - 2, extent + 3, 2))
            mask = {name: int(rng.random() < 0.2) for name in ("beginMask", "endMask")}
            python = slice(None if mask["beginMask"] else first, None if mask["endMask"] else last, stride)
            shrink = rng.random() < 0.15 and -extent <= first < extent and not mask["beginMask"]
            # An index of Python; beyond the front the format stops where Python starts anew.
            count = len(range(*python.indices(extent)))
            if shrink:
                stride, last = 1, (first + extent) % extent + 1
            if shrink or count:
                break
        begin.append(first)
        end.append(last)
        strides.append(stride)
        for name, bit in mask.items():
            masks[name] |= (0 if shrink else bit) << axis
        masks["shrinkAxisMask"] |= int(shrink) << axis
        y += [] if shrink else [count]
    op = Op("STRIDED_SLICE", options(schema.StridedSliceOptionsT, **masks), 2)
    constants = [integers("begin", begin), integers("end", end), integers("strides", strides)]
    return moved(rng, row, op, shape, [y], constants)


def transpose(rng, row):
    shape = shape_of(rng, 5)
    permutation = [int(axis) for axis in rng.permutation(len(shape))]
    y = [shape[axis] for axis in permutation]
    op = Op("TRANSPOSE", schema.TransposeOptionsT(), 2)
    return moved(rng, row, op, shape, [y], [integers("permutation", permutation)])


def paddings_of(rng, shape, most):
    return [[int(rng.integers(0, bound + 1)) for _ in range(2)] for bound in most(shape)]


def pad(rng, row):
    shape = shape_of(rng)
    paddings = paddings_of(rng, shape, lambda shape: [3] * len(shape))
    y = [extent + sum(pair) for extent, pair in zip(shape, paddings)]
    op = Op("PAD", schema.PadOptionsT(), 2)
    return moved(rng, row, op, shape, [y], [integers("paddings", paddings)])


def pad_v2(rng, row):
    model = pad(rng, row)
    x, paddings = model.operands
    value = operand(rng, "value", (), x.dtype, x.quantization, constant=1.0)
    return Model(
        Op("PADV2", schema.PadV2OptionsT(), 2), [x, paddings, value], model.results, model.sets, model.engine
    )


def mirror_pad(rng, row):
    shape = shape_of(rng)
    mode = int(rng.choice([schema.MirrorPadMode.REFLECT, schema.MirrorPadMode.SYMMETRIC]))
    less = int(mode == schema.MirrorPadMode.REFLECT)
    paddings = paddings_of(rng, shape, lambda shape: [min(extent - less, 4) for extent in shape])
    y = [extent + sum(pair) for extent, pair in zip(shape, paddings)]
    op = Op("MIRROR_PAD", options(schema.MirrorPadOptionsT, mode=mode), 2)
    model = moved(rng, row, op, shape, [y], [integers("paddings", paddings)])
    return by_numpy(model, lambda x: np.pad(x, paddings, "reflect" if less else "symmetric"))


def tile(rng, row):
    """TensorFlow Lite Micro has no TILE."""
    shape = shape_of(rng, elements=60)
    multiples = [int(multiple) for multiple in rng.integers(1, 4, len(shape))]
    y = [extent * multiple for extent, multiple in zip(shape, multiples)]
    op = Op("TILE", schema.TileOptionsT(), 2)
    return moved(rng, row, op, shape, [y], [integers("multiples", multiples)], LITERT)


def broadcast_to(rng, row):
    y = shape_of(rng)
    x = tuple(1 if rng.random() < 0.4 else extent for extent in y)[int(rng.integers(len(y))) :]
    op = Op("BROADCAST_TO", schema.BroadcastToOptionsT(), 2)
    return moved(rng, row, op, x, [y], [integers("shape", y)])


def fill(rng, row):
    y = shape_of(rng)
    op = Op("FILL", schema.FillOptionsT())
    model = moved(rng, row, op, (), [y], [integers("dims", y)], data_first=False)
    return by_numpy(model, lambda x: np.full(y, x))


def reverse(rng, row):
    shape = shape_of(rng)
    _, axis = axis_of(rng, shape)
    op = Op("REVERSE_V2", schema.ReverseV2OptionsT(), 3)
    return moved(rng, row, op, shape, [shape], [integers("axes", [axis])])


def gather(rng, row):
    shape = shape_of(rng, 3)
    axis, stated = axis_of(rng, shape)
    indices = rng.integers(0, shape[axis], extents(rng, int(rng.integers(1, 3)), 8))
    y = (*shape[:axis], *indices.shape, *shape[axis + 1 :])
    op = Op("GATHER", options(schema.GatherOptionsT, axis=stated), 2)
    long = row[1] == "i64"
    constants = [integers("indices", indices, np.int64 if long else np.int32)]
    return moved(rng, row, op, shape, [y], constants, LITERT if long or row[0] == "i16" else MICRO)


def gather_nd(rng, row):
    shape = shape_of(rng)
    depth = int(rng.integers(1, len(shape) + 1))
    count = extents(rng, int(rng.integers(1, 3)), 9)
    indices = np.stack([rng.integers(0, extent, count) for extent in shape[:depth]], axis=-1)
    y = (*count, *shape[depth:])
    long = row[1] == "i64"
    constants = [integers("indices", indices, np.int64 if long else np.int32)]
    op = Op("GATHER_ND", schema.GatherNdOptionsT(), 2)
    return moved(rng, row, op, shape, [y], constants, LITERT if long or row[0] == "i16" else MICRO)


def space_to_depth(rng, row):
    batch, height, width, depth = (int(n) for n in rng.integers(1, 5, 4))
    block = int(rng.integers(1, 4))
    op = Op("SPACE_TO_DEPTH", options(schema.SpaceToDepthOptionsT, blockSize=block), 2)
    y = (batch, height, width, depth * block * block)
    model = moved(rng, row, op, (batch, height * block, width * block, depth), [y])
    blocks = (batch, height, block, width, block, depth)
    return by_numpy(model, lambda x: x.reshape(blocks).transpose(0, 1, 3, 2, 4, 5).reshape(y))


def depth_to_space(rng, row):
    batch, height, width, depth = (int(n) for n in rng.integers(1, 5, 4))
    block = int(rng.integers(1, 4))
    op = Op("DEPTH_TO_SPACE", options(schema.DepthToSpaceOptionsT, blockSize=block))
    y = (batch, height * block, width * block, depth)
    model = moved(rng, row, op, (batch, height, width, depth * block * block), [y])
    blocks = (batch, height, width, block, block, depth)
    return by_numpy(model, lambda x: x.reshape(blocks).transpose(0, 1, 3, 2, 4, 5).reshape(y))


def moving_engine(row):
    """TensorFlow Lite Micro has them for int8 and float32 only."""
    return LITERT if row[0] == "i16" else MICRO


def space_to_batch(rng, row):
    """TensorFlow Lite Micro pads with 0 instead of the zero point (L2): LiteRT."""
    axes = int(rng.integers(1, 3))
    block = [int(n) for n in rng.integers(1, 4, axes)]
    batch, depth = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    space = [b * int(rng.integers(1, 4)) for b in block]
    paddings = [[int(rng.integers(0, n)) for _ in range(2)] for n in space]
    image = [n - sum(pair) for n, pair in zip(space, paddings)]
    for axis, extent in enumerate(image):
        if extent < 1:
            paddings[axis], image[axis] = [0, 0], space[axis]
    y = (batch * math.prod(block), *(n // b for n, b in zip(space, block)), depth)
    constants = [integers("block", block), integers("paddings", paddings)]
    op = Op("SPACE_TO_BATCH_ND", schema.SpaceToBatchNDOptionsT(), 2)
    return moved(rng, row, op, (batch, *image, depth), [y], constants, LITERT)


def batch_to_space(rng, row):
    axes = int(rng.integers(1, 3))
    block = [int(n) for n in rng.integers(1, 4, axes)]
    batch, depth = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    image = [int(n) for n in rng.integers(1, 5, axes)]
    crops = [[int(rng.integers(0, (n * b + 1) // 2)) for _ in range(2)] for n, b in zip(image, block)]
    space = [n * b - sum(pair) for n, b, pair in zip(image, block, crops)]
    constants = [integers("block", block), integers("crops", crops)]
    op = Op("BATCH_TO_SPACE_ND", schema.BatchToSpaceNDOptionsT(), 2)
    x = (batch * math.prod(block), *image, depth)
    return moved(rng, row, op, x, [(batch, *space, depth)], constants, moving_engine(row))


def reshape(rng, row):
    shape = shape_of(rng)
    split_at = int(rng.integers(len(shape) + 1))
    y = [math.prod(shape[:split_at]), math.prod(shape[split_at:])]
    given = list(y)
    if rng.random() < 0.4:
        given[int(rng.integers(2))] = -1
    op = Op("RESHAPE", options(schema.ReshapeOptionsT, newShape=given))
    return moved(rng, row, op, shape, [y], [integers("shape", given)])


def with_ones(rng):
    """A shape with an axis of one element, and that axis."""
    shape = shape_of(rng, 3)
    axis = int(rng.integers(len(shape) + 1))
    return shape, (*shape[:axis], 1, *shape[axis:]), axis


def squeeze(rng, row):
    y, shape, axis = with_ones(rng)
    return moved(rng, row, Op("SQUEEZE", options(schema.SqueezeOptionsT, squeezeDims=[axis])), shape, [y])


def expand_dims(rng, row):
    shape, y, axis = with_ones(rng)
    op = Op("EXPAND_DIMS", schema.ExpandDimsOptionsT())
    return moved(rng, row, op, shape, [y], [integers("axis", axis)], moving_engine(row))


DRAWS = {
    "BATCH_TO_SPACE_ND": batch_to_space,
    "BROADCAST_TO": broadcast_to,
    "CONCATENATION": concatenation,
    "DEPTH_TO_SPACE": depth_to_space,
    "EXPAND_DIMS": expand_dims,
    "FILL": fill,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "MIRROR_PAD": mirror_pad,
    "PACK": pack,
    "PAD": pad,
    "PADV2": pad_v2,
    "RESHAPE": reshape,
    "REVERSE_V2": reverse,
    "SLICE": slice_,
    "SPACE_TO_BATCH_ND": space_to_batch,
    "SPACE_TO_DEPTH": space_to_depth,
    "SPLIT": split,
    "SPLIT_V": split_v,
    "SQUEEZE": squeeze,
    "STRIDED_SLICE": strided_slice,
    "TILE": tile,
    "TRANSPOSE": transpose,
    "UNPACK": unpack,
}
