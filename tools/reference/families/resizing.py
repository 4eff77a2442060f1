"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR; int16 results are LiteRT's."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Integers, cases, exact
from tflite_file import Op, Quantization

ALIGNMENTS = {"plain": (False, False), "corners": (True, False), "half_pixel": (False, True)}
# Image, and what it becomes.
SIZES = {
    "larger": ((5, 4), (8, 9)),
    "smaller": ((7, 9), (3, 4)),
    "twice": ((3, 4), (6, 8)),
    "one_row": ((1, 6), (4, 1)),
}


def all_cases():
    for alignment in ALIGNMENTS:
        for size, (image, result) in SIZES.items():
            yield from bilinear(f"{size}_{alignment}", image, result, alignment)
            yield from nearest(f"{size}_{alignment}", image, result, alignment)
    yield from bilinear("batch2_coarse", (4, 5), (7, 3), "half_pixel", batch=2, quantization=Quantization.tensor(0.5, 77))
    yield from nearest("batch2", (4, 5), (7, 3), "half_pixel", batch=2, kinds=("f32", "i8"))
    rng = np.random.default_rng(8)
    x = rng.integers(-32768, 32768, (1, 4, 3, 5), np.int16)
    for alignment in ALIGNMENTS:
        for name, op in ("bilinear", bilinear_op(alignment, 4)), ("nearest", nearest_op(alignment, 4)):
            size = {1: np.array([7, 5], np.int32)}
            yield exact(f"{alignment}", op, [x], constants=size, what=f"{name} 4x3 to 7x5, {alignment}")


def bilinear(name, image, result, alignment, batch=1, quantization=Activation.quantization):
    operands = [Activation((batch, *image, 3), quantization), Integers(result, "size")]
    what = f"{image} to {result}, {alignment}"
    return cases(name, what, bilinear_op(alignment), operands, output="same")


def nearest(name, image, result, alignment, batch=1, kinds=("f32",)):
    operands = [Activation((batch, *image, 3)), Integers(result, "size")]
    return cases(name, f"{image} to {result}, {alignment}", nearest_op(alignment), operands, output="same", kinds=kinds)


def bilinear_op(alignment, version=3):
    options = schema.ResizeBilinearOptionsT()
    options.alignCorners, options.halfPixelCenters = ALIGNMENTS[alignment]
    return Op("RESIZE_BILINEAR", options, version)


def nearest_op(alignment, version=3):
    options = schema.ResizeNearestNeighborOptionsT()
    options.alignCorners, options.halfPixelCenters = ALIGNMENTS[alignment]
    return Op("RESIZE_NEAREST_NEIGHBOR", options, version)
