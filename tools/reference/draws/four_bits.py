"""Models with int4, drawn as ones with int8 in their place.

No reference runs int4 (LiteRT does in one cast only), but all run int8, where the same numbers
give the same results: so the files hold int4, and the references are given int8.
"""

from dataclasses import replace

import numpy as np

from tflite_file import Quantization


def also(draw):
    """The draw, for rows with int4 too."""
    return lambda rng, row: narrowed(draw, rng, row) if "i4" in row else draw(rng, row)


def narrowed(draw, rng, row):
    """A model of the row: drawn for int8, then int8 made int4 where the row says so."""
    model = draw(rng, tuple("i8" if name == "i4" else name for name in row))
    if "i4" in row[:-1]:
        model.operands = [four_bits(tensor) for tensor in model.operands]
        model.sets = [[reduced(array) for array in arrays] for arrays in model.sets]
    if row[-1] == "i4":
        model.results = [four_bits(tensor) for tensor in model.results]
    if row == ("i8", "i4"):
        # A cast to int8 keeps all numbers, so that no reference shows what is left of them in
        # int4: as in every cast to a smaller integer, the bits that it has.
        model.engine, model.correct = None, lambda sets, _: [[lower_bits(array)] for [array] in sets]
    return model


def four_bits(tensor):
    """The tensor of int4, if it is one of int8."""
    if tensor.dtype != np.int8:
        return tensor
    q = tensor.quantization
    q = q and Quantization.tensor(q.scale[0], reduced(q.zero_point[0]))
    return replace(tensor, quantization=q, four_bits=True)


def reduced(number):
    """A number of eight bits in the range of four: the ends stay the ends."""
    return number >> 4


def lower_bits(array):
    """The lower four bits, with their sign."""
    return (array & 15 ^ 8) - 8
