"""Operators that only move elements: CONCATENATION, SPLIT, SLICE, TRANSPOSE and their like."""

from functools import partial

from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Constant, Integers, cases
from tflite_file import Op, Quantization

SAME = Quantization.tensor(0.05, 23)


def all_cases():
    yield from concatenation_cases()
    yield from pack_cases()
    yield from split_cases()
    yield from unpack_cases()
    yield from slice_cases()
    yield from strided_slice_cases()
    yield from transpose_cases()
    yield from pad_v2_cases()
    yield from mirror_pad_cases()
    yield from repeating_cases()
    yield from reverse_cases()
    yield from gather_cases()
    yield from depth_cases()
    yield from batch_cases()


def move(name, op, operands, **extra):
    """Cases of one operator whose result has the quantization of its operands."""
    shapes = ", ".join(str(list(operand.shape)) for operand in operands if isinstance(operand, Activation))
    integers = " ".join(str(operand.values) for operand in operands if isinstance(operand, Integers))
    return cases(name, f"{shapes} {integers}".strip(), op, operands, output="same", **extra)


def options(kind, **fields):
    result = kind()
    for field, value in fields.items():
        setattr(result, field, value)
    return result


def concatenation_cases():
    def concatenation(name, axis, *operands):
        op = Op("CONCATENATION", options(schema.ConcatenationOptionsT, axis=axis))
        return move(name, op, list(operands))

    def x(*shape):
        return Activation(shape, SAME)

    yield from concatenation("first_axis", 0, x(2, 3), x(1, 3), x(3, 3))
    yield from concatenation("last_axis", 3, x(1, 2, 3, 2), x(1, 2, 3, 4))
    yield from concatenation("negative_axis", -2, x(1, 2, 1, 2), x(1, 2, 3, 2))
    yield from concatenation("height_of_one_image", 1, x(1, 2, 3, 2), x(1, 1, 3, 2))
    yield from concatenation("one", 0, x(2, 3))
    yield from concatenation("constant", 1, x(2, 2), Constant((2, 1), SAME), x(2, 1))


def pack_cases():
    def pack(name, axis, shape, count):
        op = Op("PACK", options(schema.PackOptionsT, valuesCount=count, axis=axis))
        return move(name, op, [Activation(shape, SAME)] * count)

    yield from pack("first_axis", 0, (2, 3), 3)
    yield from pack("middle_axis", 1, (2, 3), 2)
    yield from pack("last_axis", -1, (2, 3), 2)


def split_cases():
    def split(name, axis, shape, count):
        op = Op("SPLIT", options(schema.SplitOptionsT, numSplits=count))
        return move(name, op, [Integers(axis, "axis"), Activation(shape, SAME)], results=count)

    yield from split("first_axis", 0, (4, 3), 2)
    yield from split("channels", 3, (1, 2, 3, 6), 3)
    yield from split("negative_axis", -2, (2, 4, 3), 4)

    def split_v(name, axis, shape, sizes):
        op = Op("SPLIT_V", options(schema.SplitVOptionsT, numSplits=len(sizes)))
        operands = [Activation(shape, SAME), Integers(sizes, "sizes"), Integers(axis, "axis")]
        return move(name, op, operands, results=len(sizes))

    yield from split_v("rows", 1, (1, 6, 2), [1, 3, 2])
    yield from split_v("rest", -1, (2, 3, 5), [2, -1])
    yield from split_v("one", 0, (3, 2), [3])


def unpack_cases():
    def unpack(name, axis, shape):
        op = Op("UNPACK", options(schema.UnpackOptionsT, num=shape[axis], axis=axis))
        return move(name, op, [Activation(shape, SAME)], results=shape[axis])

    yield from unpack("first_axis", 0, (3, 2, 2))
    yield from unpack("middle_axis", 1, (2, 3, 2))
    yield from unpack("last_axis", -1, (2, 3))


def slice_cases():
    def slice_(name, shape, begin, size):
        operands = [Activation(shape, SAME), Integers(begin, "begin"), Integers(size, "size")]
        # -1 takes what is left.
        result = tuple(n - b if s == -1 else s for n, b, s in zip(shape, begin, size, strict=True))
        return move(name, Op("SLICE", schema.SliceOptionsT()), operands, declared=result)

    yield from slice_("rows", (4, 3), [1, 0], [2, 3])
    yield from slice_("window", (1, 4, 5, 2), [0, 1, 2, 0], [1, 2, 3, 2])
    yield from slice_("rest", (2, 3, 4), [0, 1, 2], [-1, 2, -1])
    yield from slice_("channels", (2, 3, 4), [0, 0, 1], [2, 3, 2])


def strided_slice_cases():
    def strided_slice(name, shape, begin, end, strides, engine="micro", **masks):
        op = Op("STRIDED_SLICE", options(schema.StridedSliceOptionsT, **masks))
        operands = [
            Activation(shape, SAME),
            Integers(begin, "begin"),
            Integers(end, "end"),
            Integers(strides, "strides"),
        ]
        return move(name, op, operands, engine=engine)

    yield from strided_slice("rows", (5, 3), [1, 0], [4, 3], [1, 1])
    yield from strided_slice("every_second", (1, 5, 6, 2), [0, 0, 1, 0], [1, 5, 6, 2], [1, 2, 2, 1])
    yield from strided_slice("masks", (4, 5, 3), [9, 1, 1], [9, 9, 0], [1, 1, 1], beginMask=1, endMask=5)
    yield from strided_slice("negative_indices", (4, 5), [-3, -4], [-1, -1], [1, 2])
    yield from strided_slice("beyond_the_ends", (4, 5), [-9, 2], [9, 99], [1, 1])
    yield from strided_slice("shrink", (3, 4, 2), [1, 1, 0], [2, 3, 2], [1, 1, 1], shrinkAxisMask=1)
    yield from strided_slice("shrink_last", (3, 4), [0, -1], [3, 0], [1, 1], shrinkAxisMask=2)
    yield from strided_slice("backwards", (4, 3), [3, 2], [0, -9], [-2, -1])
    yield from strided_slice("backwards_masks", (5,), [0], [0], [-2], beginMask=1, endMask=1)
    # TensorFlow Lite Micro knows neither of these.
    others = partial(strided_slice, engine="litert")
    yield from others("ellipsis", (2, 3, 4), [0, 1], [0, 3], [1, 1], ellipsisMask=1)
    yield from others("new_axis", (3, 4), [1, 0, 0], [3, 0, 2], [1, 1, 1], newAxisMask=2)


def transpose_cases():
    def transpose(name, shape, permutation):
        operands = [Activation(shape, SAME), Integers(permutation, "permutation")]
        return move(name, Op("TRANSPOSE", schema.TransposeOptionsT()), operands)

    yield from transpose("matrix", (3, 4), [1, 0])
    yield from transpose("to_channels_first", (1, 3, 4, 2), [0, 3, 1, 2])
    yield from transpose("rank3", (2, 3, 4), [2, 0, 1])
    yield from transpose("rank5", (2, 1, 3, 2, 2), [4, 1, 0, 3, 2])
    yield from transpose("ones", (1, 3, 1, 4), [1, 0, 3, 2])


def pad_v2_cases():
    def pad(name, shape, paddings, value):
        operands = [Activation(shape, SAME), Integers(paddings, "paddings"), Constant((), SAME, (value,))]
        return move(name, Op("PADV2", schema.PadV2OptionsT()), operands)

    yield from pad("rows", (2, 3), [[1, 2], [0, 0]], -128)
    yield from pad("image", (1, 2, 3, 2), [[0, 0], [1, 0], [2, 1], [0, 0]], 77)
    yield from pad("zeros", (1, 2, 2, 1), [[0, 0], [1, 1], [1, 1], [0, 0]], 23)


def mirror_pad_cases():
    def mirror_pad(name, shape, paddings, mode):
        op = Op("MIRROR_PAD", options(schema.MirrorPadOptionsT, mode=mode))
        return move(name, op, [Activation(shape, SAME), Integers(paddings, "paddings")])

    yield from mirror_pad("reflect_rows", (3, 2), [[2, 1], [0, 0]], schema.MirrorPadMode.REFLECT)
    yield from mirror_pad("reflect_image", (1, 4, 3, 2), [[0, 0], [1, 3], [2, 1], [0, 0]], schema.MirrorPadMode.REFLECT)
    yield from mirror_pad("symmetric", (2, 3, 2), [[1, 2], [3, 0], [0, 2]], schema.MirrorPadMode.SYMMETRIC)


def repeating_cases():
    def tile(name, shape, multiples):
        # TensorFlow Lite Micro has no TILE.
        operands = [Activation(shape, SAME), Integers(multiples, "multiples")]
        return move(name, Op("TILE", schema.TileOptionsT()), operands, engine="litert")

    yield from tile("rows", (2, 3), [2, 1])
    yield from tile("all_axes", (2, 3, 2), [2, 3, 2])
    yield from tile("rank4", (2, 1, 2, 3), [2, 3, 2, 2])

    def broadcast_to(name, shape, target):
        operands = [Activation(shape, SAME), Integers(target, "shape")]
        return move(name, Op("BROADCAST_TO", schema.BroadcastToOptionsT(), 2), operands)

    yield from broadcast_to("rows", (1, 3), [4, 3])
    yield from broadcast_to("more_axes", (2, 1), [2, 2, 3])
    yield from broadcast_to("between", (2, 1, 3, 1), [2, 2, 3, 2])

    def fill(name, shape):
        operands = [Integers(shape, "dims"), Activation((), SAME)]
        return move(name, Op("FILL", schema.FillOptionsT()), operands)

    yield from fill("matrix", [2, 3])


def reverse_cases():
    def reverse(name, shape, axes, engine="micro"):
        operands = [Activation(shape, SAME), Integers(axes, "axes")]
        return move(name, Op("REVERSE_V2", schema.ReverseV2OptionsT()), operands, engine=engine)

    yield from reverse("rows", (3, 2), [0])
    yield from reverse("last_axis", (2, 3, 4), [-1])
    yield from reverse("middle_axis", (2, 3, 2), [1])


def gather_cases():
    def gather(name, shape, axis, indices):
        op = Op("GATHER", options(schema.GatherOptionsT, axis=axis))
        return move(name, op, [Activation(shape, SAME), Integers(indices, "indices")])

    yield from gather("rows", (5, 3), 0, [4, 0, 0])
    yield from gather("every_second", (2, 5, 2), 1, [0, 2, 4])
    yield from gather("last_axis", (2, 3, 4), -1, [3, 1, 2, 2, 0, 3, 1])
    yield from gather("matrix_of_indices", (4, 2), 0, [[1, 2], [3, 0]])


def depth_cases():
    def moved(operator, kind, name, shape, block):
        op = Op(operator, options(kind, blockSize=block))
        return move(name, op, [Activation(shape, SAME)])

    for name, shape, block in (
        ("2", (1, 4, 6, 3), 2),
        ("batch", (2, 2, 4, 1), 2),
        ("3", (1, 3, 6, 2), 3),
    ):
        yield from moved("SPACE_TO_DEPTH", schema.SpaceToDepthOptionsT, name, shape, block)
    for name, shape, block in (
        ("2", (1, 2, 3, 12), 2),
        ("batch", (2, 1, 2, 4), 2),
        ("3", (1, 1, 2, 18), 3),
    ):
        yield from moved("DEPTH_TO_SPACE", schema.DepthToSpaceOptionsT, name, shape, block)


def batch_cases():
    def space_to_batch(name, shape, block, paddings):
        op = Op("SPACE_TO_BATCH_ND", schema.SpaceToBatchNDOptionsT())
        operands = [Activation(shape, SAME), Integers(block, "block"), Integers(paddings, "paddings")]
        # TensorFlow Lite Micro pads with 0 instead of the zero point (L2).
        return move(name, op, operands, engine="litert")

    yield from space_to_batch("squares", (2, 4, 6, 2), [2, 2], [[0, 0], [0, 0]])
    yield from space_to_batch("padded", (1, 5, 4, 2), [2, 3], [[0, 1], [2, 3]])
    yield from space_to_batch("one_axis", (1, 5, 3), [2], [[2, 1]])
    yield from space_to_batch("padded_blocks", (1, 2, 2, 1), [2, 2], [[2, 0], [3, 1]])

    def batch_to_space(name, shape, block, crops):
        op = Op("BATCH_TO_SPACE_ND", schema.BatchToSpaceNDOptionsT())
        operands = [Activation(shape, SAME), Integers(block, "block"), Integers(crops, "crops")]
        return move(name, op, operands)

    yield from batch_to_space("squares", (8, 2, 3, 2), [2, 2], [[0, 0], [0, 0]])
    yield from batch_to_space("cropped", (6, 3, 2, 2), [2, 3], [[1, 0], [2, 1]])
    yield from batch_to_space("one_axis", (2, 3, 3), [2], [[1, 2]])
