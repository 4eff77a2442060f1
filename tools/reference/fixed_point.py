"""Requantization with two roundings, as TensorFlow Lite Micro's reference kernels do it.

Only for values that the reference itself gets wrong; all else is run, not computed.
Needs numpy.
"""

import math

import numpy as np


def round_half_away(value):
    """Nearest integer, ties away from zero."""
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)


def quantize_multiplier(real):
    """(multiplier, shift): real = multiplier / 2^31 * 2^shift, multiplier of 31 bits."""
    if real == 0:
        return 0, 0
    fraction, shift = math.frexp(real)
    multiplier = round_half_away(fraction * 2**31)
    if multiplier == 2**31:
        multiplier, shift = multiplier // 2, shift + 1
    return (0, 0) if shift < -31 else (multiplier, shift)


def multiply(values, real):
    """round(round(values * multiplier) >> shift), both ties away from zero."""
    multiplier, shift = quantize_multiplier(real)
    left, right = max(shift, 0), max(-shift, 0)
    product = (values.astype(np.int64) << left) * multiplier
    high = (product + 2**30) >> 31
    if right == 0:
        return high
    return (high + 2 ** (right - 1) - (high < 0)) >> right


def quantized_bound(real, scale, zero_point):
    """A bound of an activation function on the integer scale, unclamped."""
    return zero_point + round_half_away(float(np.float32(real) / np.float32(scale)))


def overflowing_quotients(a, b, factor):
    """Where the references' DIV shifts to the right by more than 31, which gives anything.

    `a`, `b`: differences from the zero points; `factor`: what the scales make of a quotient.
    There it is less than half a step: the zero point is right.
    """
    a, b = a * np.sign(b), np.abs(b)
    bits = np.vectorize(lambda value: int(value).bit_length())
    headroom = 31 - bits(np.where(a < 0, -a - 1, a))
    return headroom + (bits(b) - 1) - quantize_multiplier(factor)[1] > 31
