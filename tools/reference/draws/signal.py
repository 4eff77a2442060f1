"""The audio front end of TensorFlow Lite Micro: custom operators, which only it runs."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from draws.common import Model, extents, integers, limits, result
from tflite_file import Custom, Tensor


def numbers(rng, dtype, shape):
    """Of any number of bits, or at the ends of the range."""
    low, high = limits(dtype)
    full = rng.integers(low, high, shape, endpoint=True)
    kind, bits = rng.integers(4), np.iinfo(dtype).bits
    if kind == 0:
        full = np.where(rng.random(shape) < 0.5, rng.choice([low, high, 0, 1, low + 1, high - 1], shape), full)
    elif kind == 1:
        full >>= rng.integers(0, bits, shape)
    elif kind == 2:
        full >>= rng.integers(bits)
    return full.astype(dtype)


def several(rng, dtype, shape):
    return [[numbers(rng, dtype, shape)] for _ in range(3)]


def constant(rng, name, count):
    return integers(name, rng.integers(-(2**15), 2**15, count), np.int16)


def window(rng, row):
    shape = extents(rng, int(rng.integers(1, 4)))
    op = Custom("SignalWindow", {"shift": int(rng.integers(8, 16))})
    operands = [Tensor("x", shape, np.int16), constant(rng, "weights", shape[-1])]
    return Model(op, operands, [result(shape, np.int16)], several(rng, np.int16, shape))


def fft_auto_scale(rng, row):
    shape = extents(rng, 1)
    results = [result(shape, np.int16), result((), np.int32, None, "shift")]
    op = Custom("SignalFftAutoScale", {})
    return Model(op, [Tensor("x", shape, np.int16)], results, several(rng, np.int16, shape))


def rfft(rng, row):
    """Frames that are shorter than the transform are filled up with zeros."""
    length = 2 ** int(rng.integers(2, 10))
    frame = length if rng.random() < 0.5 else int(rng.integers(1, length + 1))
    outer = extents(rng, int(rng.integers(3)), 4)
    op = Custom("SignalRfft", {"T": schema.TensorType.INT16, "fft_length": length})
    shape = (*outer, frame)
    y = result((*outer, length + 2), np.int16)
    return Model(op, [Tensor("x", shape, np.int16)], [y], several(rng, np.int16, shape))


def energy(rng, row):
    """Of all elements: what is not computed, the reference does not write."""
    (count,) = extents(rng, 1, 200)
    op = Custom("SignalEnergy", {"start_index": 0, "end_index": count})
    sets = several(rng, np.int16, (2 * count,))
    return Model(op, [Tensor("x", (2 * count,), np.int16)], [result((count,), np.uint32)], sets)


def filter_bank(rng, row):
    channels, bins, count = (int(n) for n in rng.integers((1, 1, 20), (100, 80, 120)))
    widths = rng.integers(0, min(bins, count, 20), channels + 1, endpoint=True)
    operands = [
        Tensor("x", (bins,), np.uint32),
        constant(rng, "weights", count),
        constant(rng, "unweights", count),
        integers("bin_starts", rng.integers(0, bins - widths, endpoint=True), np.int16),
        integers("weight_starts", rng.integers(0, count - widths, endpoint=True), np.int16),
        integers("widths", widths, np.int16),
    ]
    op = Custom("SignalFilterBank", {"num_channels": channels})
    sets = several(rng, np.uint32, (bins,)) + several(rng, np.uint32, (bins,))
    return Model(op, operands, [result((channels,), np.uint64)], sets)


def pcan(rng, row):
    shape = extents(rng, 1)
    operands = [Tensor("x", shape, np.uint32), Tensor("noise", shape, np.uint32), constant(rng, "gains", 125)]
    op = Custom("SignalPCAN", {"snr_shift": int(rng.integers(1, 16))})
    sets = [[numbers(rng, np.uint32, shape), numbers(rng, np.uint32, shape)] for _ in range(3)]
    return Model(op, operands, [result(shape, np.uint32)], sets)


def filter_bank_log(rng, row):
    shape = extents(rng, 1)
    attributes = {
        "output_scale": int(rng.choice([64, 100, 1600, 65_536, rng.integers(1, 4000)])),
        "input_correction_bits": int(rng.integers(0, 8)),
    }
    op = Custom("SignalFilterBankLog", attributes)
    return Model(op, [Tensor("x", shape, np.uint32)], [result(shape, np.int16)], several(rng, np.uint32, shape))


DRAWS = {
    "SignalEnergy": energy,
    "SignalFftAutoScale": fft_auto_scale,
    "SignalFilterBank": filter_bank,
    "SignalFilterBankLog": filter_bank_log,
    "SignalPCAN": pcan,
    "SignalRfft": rfft,
    "SignalWindow": window,
}
