"""The audio front end of TensorFlow Lite Micro: custom operators, which only it runs.

Casts of uint32, which these operators need, are here, too.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from tflite_file import Custom, Op, Tensor, build_graph

SEED = 41


def all_cases():
    yield from window_cases()
    yield from scale_cases()
    yield from rfft_cases()
    yield from energy_cases()
    yield from filter_bank_cases()
    yield from square_root_cases()
    yield from subtraction_cases()
    yield from pcan_cases()
    yield from log_cases()
    yield from cast_cases()


def window_cases():
    rng = np.random.default_rng(SEED)
    weights = constant("weights", integers(rng, np.int16, 6))
    x = Tensor("x", (3, 6), np.int16)
    op = Custom("SignalWindow", {"shift": 12})
    sets = [[integers(rng, np.int16, (3, 6))], [rng.choice(np.array([-32768, 32767, -1, 1], np.int16), (3, 6))]]
    yield case("signal_window_i16_frames", [(op, [x, weights], [Tensor("y", (3, 6), np.int16)])], sets)


def scale_cases():
    arrays = [
        [1, -2, 3, -300, 5],
        [0, 0, 0, 0, 0],
        [16384, 0, 1, 2, 3],
        # The reference starts again after -32768.
        [32767, -32768, 0, -7, 3],
        [0, 1, 2, -32768, 0],
    ]
    results = [Tensor("y", (5,), np.int16), Tensor("shift", (), np.int32)]
    nodes = [(Custom("SignalFftAutoScale", {}), [Tensor("x", (5,), np.int16)], results)]
    yield case("signal_fft_auto_scale_i16", nodes, [[np.array(array, np.int16)] for array in arrays])


def rfft_cases():
    """Radix 4 alone, with one of radix 2, and frames that are filled up with zeros."""
    for shape, length in ((4,), 4), ((2, 13), 16), ((27,), 32), ((128,), 128):
        for dtype in np.int16, np.int32, np.float32:
            rng = np.random.default_rng([SEED, length])
            op = Custom("SignalRfft", {"T": TENSOR_TYPES[dtype], "fft_length": length})
            result = Tensor("y", (*shape[:-1], length + 2), dtype)
            if dtype == np.float32:
                sets = [[rng.normal(0, 100, shape).astype(dtype)]]
            else:
                limits = np.iinfo(dtype)
                extremes = rng.choice(np.array([limits.min, limits.max, -1], dtype), shape)
                sets = [[integers(rng, dtype, shape)], [extremes]]
            nodes = [(op, [Tensor("x", shape, dtype)], [result])]
            yield case(f"signal_rfft_{kind(dtype)}_{length}", nodes, sets)


def energy_cases():
    rng = np.random.default_rng(SEED)
    x, energy = Tensor("x", (14,), np.int16), Tensor("energy", (7,), np.uint32)
    sets = [[integers(rng, np.int16, 14)], [np.full(14, -32768, np.int16)]]
    op = Custom("SignalEnergy", {"start_index": 0, "end_index": 7})
    yield case("signal_energy_i16_all", [(op, [x], [energy])], sets)
    # What is not computed is not written either: it is cut off.
    signed, part = Tensor("signed", (7,), np.int32), Tensor("part", (3,), np.int32)
    bounds = [constant(name, np.array([i], np.int32)) for name, i in (("begin", 2), ("end", 5), ("stride", 1))]
    nodes = [
        (Custom("SignalEnergy", {"start_index": 2, "end_index": 5}), [x], [energy]),
        (Op("CAST"), [energy], [signed]),
        (Op("STRIDED_SLICE", schema.StridedSliceOptionsT()), [signed, *bounds], [part]),
    ]
    yield case("signal_energy_i16_part", nodes, sets)


def filter_bank_cases():
    rng = np.random.default_rng(SEED)
    channels, bins, count = 4, 20, 30
    widths = np.array([3, 0, 7, 5, 1], np.int16)
    operands = [
        Tensor("x", (bins,), np.uint32),
        constant("weights", integers(rng, np.int16, count)),
        constant("unweights", integers(rng, np.int16, count)),
        constant("bin_starts", np.array([17, 0, 2, 9, 4], np.int16)),
        constant("weight_starts", np.array([0, 30, 4, 25, 11], np.int16)),
        constant("widths", widths),
    ]
    op = Custom("SignalFilterBank", {"num_channels": channels})
    sets = [[integers(rng, np.uint32, bins)], [np.full(bins, 0xFFFF_FFFF, np.uint32)]]
    yield case("signal_filter_bank_u32", [(op, operands, [Tensor("y", (channels,), np.uint64)])], sets)


def square_root_cases():
    rng = np.random.default_rng(SEED)
    edges = [0, 1, 2, 3, 6, 7, 12, 13, 0xFFFE_0001, 0xFFFF_0000, 0xFFFF_FFFF, 1 << 32]
    edges += [0xFFFF_FFFE_0000_0001, (1 << 64) - 1]
    middles = [n * n + n + k for n in (5, 1000, 65_535, 70_000, 3_000_000_000) for k in (0, 1)]
    random = [int(rng.integers(0, 1 << 63)) >> int(rng.integers(0, 63)) for _ in range(20)]
    x = np.array(edges + middles + random, np.uint64)
    operands = [Tensor("x", x.shape, np.uint64), Tensor("shift", (), np.int32)]
    nodes = [(Custom("SignalFilterBankSquareRoot", {}), operands, [Tensor("y", x.shape, np.uint32)])]
    sets = [[x, np.array(shift, np.int32)] for shift in (0, 3, 15)]
    yield case("signal_filter_bank_square_root_u64", nodes, sets)


def subtraction_cases():
    for name, clamping in ("plain", False), ("clamping", True):
        rng = np.random.default_rng(SEED)
        channels, steps = 5, 6
        attributes = {
            "alternate_one_minus_smoothing": 15401,
            "alternate_smoothing": 983,
            "clamping": clamping,
            "min_signal_remaining": 819,
            "num_channels": channels,
            "one_minus_smoothing": 15975,
            "smoothing": 409,
            "smoothing_bits": 10,
            "spectral_subtraction_bits": 14,
        }
        results = [Tensor("y", (channels,), np.uint32), Tensor("noise", (channels,), np.uint32)]
        op = Custom("SignalFilterBankSpectralSubtraction", attributes)
        # The signal falls, so that the estimate is above it; then it has all 32 bits.
        bits = np.array([20, 22, 12, 4, 32, 32])[:, None]
        x = (integers(rng, np.uint32, (steps, channels)) >> (32 - bits)).astype(np.uint32)
        nodes = [(op, [Tensor("x", (channels,), np.uint32)], results)]
        yield case(f"signal_filter_bank_spectral_subtraction_u32_{name}", nodes, [[x]], steps=steps)


def pcan_cases():
    rng = np.random.default_rng(SEED)
    gains = constant("gains", integers(rng, np.int16, 125))
    noise = np.array([0, 1, 2, *(k << b for b in range(1, 31) for k in (1, 3)), 0xFFFF_FFFF], np.uint32)
    # Every bit counts where the function bends.
    x = np.resize(np.array([0, 1, 255, 2**14, 2**20 + 77, 2**32 - 1], np.uint32), noise.shape)
    operands = [Tensor("x", x.shape, np.uint32), Tensor("noise", x.shape, np.uint32), gains]
    for shift in 6, 12:
        nodes = [(Custom("SignalPCAN", {"snr_shift": shift}), operands, [Tensor("y", x.shape, np.uint32)])]
        shuffled = rng.permutation(x) >> rng.integers(0, 20, x.shape).astype(np.uint32)
        yield case(f"signal_pcan_u32_shift_{shift}", nodes, [[x, noise], [shuffled, noise]])


def log_cases():
    """Every entry of the table, and places between them."""
    rng = np.random.default_rng(SEED)
    x = [np.arange(300), (1 << 20) + 8192 * np.arange(128), (1 << 20) + 8192 * np.arange(128) + 8191]
    x = np.concatenate([*x, integers(rng, np.uint32, 44) >> rng.integers(0, 30, 44).astype(np.uint32)])
    for scale, bits in (64, 3), (1600, 0), (65_536, 1):
        attributes = {"output_scale": scale, "input_correction_bits": bits}
        y = Tensor("y", x.shape, np.int16)
        nodes = [(Custom("SignalFilterBankLog", attributes), [Tensor("x", x.shape, np.uint32)], [y])]
        yield case(f"signal_filter_bank_log_u32_scale_{scale}", nodes, [[x.astype(np.uint32)]])


def cast_cases():
    """Micro runs those that the front end needs; int64 and bool are LiteRT's."""
    sources = {
        np.uint32: np.array([0, 1, 1 << 31, (1 << 32) - 1, 0x1234_5678], np.uint32),
        np.float32: np.array([0, 0.9, 1.9, 4e9, 5e9], np.float32),
        np.int8: np.array([0, -1, 100, -128, 33], np.int8),
        np.int16: np.array([0, -1, 100, -32768, 33], np.int16),
        np.int32: np.array([0, -1, 100, -(1 << 31), 33], np.int32),
        np.int64: np.array([0, -1, 1 << 40, -(1 << 31), 33], np.int64),
    }
    pairs = [(np.uint32, to) for to in (np.float32, np.int8, np.int16, np.int32, np.int64, np.bool_)]
    pairs += [(source, np.uint32) for source in (np.float32, np.int8, np.int16, np.int32, np.int64)]
    for source, to in pairs:
        x = sources[source]
        nodes = [(Op("CAST"), [Tensor("x", x.shape, source)], [Tensor("y", x.shape, to)])]
        engine = "litert" if {source, to} & {np.int64, np.int8, np.bool_} else "micro"
        yield case(f"cast_{kind(source)}_to_{kind(to)}", nodes, [[x]], engine=engine)


TENSOR_TYPES = {
    np.int16: schema.TensorType.INT16,
    np.int32: schema.TensorType.INT32,
    np.float32: schema.TensorType.FLOAT32,
}


def kind(dtype):
    return np.dtype(dtype).name.replace("float", "f").replace("uint", "u").replace("int", "i")


def integers(rng, dtype, shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def constant(name, data):
    return Tensor(name, data.shape, data.dtype, None, data)


def case(name, nodes, sets, **extra):
    """A case of operators whose inputs are those of the first."""
    (_, operands, _), (*_, results) = nodes[0], nodes[-1]

    def meta(tensors):
        return [meta_tensor(t.name, t.shape, np.dtype(t.dtype).name.upper()) for t in tensors if t.data is None]

    operators = ", ".join(op.name for op, _, _ in nodes)
    return Case(
        name=name,
        what=f"{operators}: {', '.join(str(list(t.shape)) for t in operands if t.data is None)}",
        model=build_graph(nodes),
        inputs=meta(operands),
        outputs=meta(results),
        sets=sets,
        **extra,
    )
