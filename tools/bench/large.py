"""Times the compiler on TFLite files of more than 20 MB, beside copying their bytes.

    python3 tools/bench/large.py target/release/aot [FOLDER]

Needs the packages of tools/reference/requirements.txt. Makes three models of random
weights in FOLDER (target/large by default), and for each writes a line: the time that
reading the file and writing its bytes takes, and the time of `aot generate`, which
imports, plans, generates and writes; the best of five. Build `aot` in the profile
that is to be timed:

    cargo build --release -p aot-build --features cli
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "reference"))

from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from families.convolution import window_options  # noqa: E402
from tflite_file import Op, Quantization, Tensor, build_graph  # noqa: E402

RUNS = 5
LIMIT = 10


def main(aot, folder=ROOT / "target" / "large"):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    slow = []
    for name, model in (("dense_f32", dense(rng)), ("convolutions_i8", convolutions(rng)), ("half_f16", half(rng))):
        file = folder / f"{name}.tflite"
        file.write_bytes(model)
        copied = best(lambda: (folder / "copy").write_bytes(file.read_bytes()))
        command = [aot, "generate", str(file), "-o", str(folder / f"{name}.rs")]
        generated = best(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        ratio = generated / copied
        print(
            f"{name}: {len(model) / 1e6:.1f} MB, copied in {copied * 1e3:.1f} ms,"
            f" compiled in {generated * 1e3:.0f} ms, {ratio:.1f} times"
        )
        if ratio > LIMIT:
            slow.append(name)
    if slow:
        raise SystemExit(f"more than {LIMIT} times: {', '.join(slow)}")


def best(work):
    """Seconds of the fastest of some runs."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def dense(rng, width=1536, layers=3):
    """A perceptron in float32."""
    nodes, x = [], Tensor("x", (1, width), np.float32)
    for i in range(layers):
        weights = Tensor(f"w{i}", (width, width), np.float32, None, normal(rng, width, width))
        bias = Tensor(f"b{i}", (width,), np.float32, None, normal(rng, width))
        y = Tensor(f"y{i}", (1, width), np.float32)
        nodes.append((Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT()), [x, weights, bias], [y]))
        x = y
    return build_graph(nodes)


def convolutions(rng, channels=384, layers=16):
    """Convolutions of 3x3 in int8, a scale for each channel."""
    activation = Quantization.tensor(0.05, 3)
    scales = Quantization.channels(rng.uniform(0.001, 0.002, channels), 0)
    bias_scales = Quantization.channels([0.05 * scale for scale in scales.scale], 0)
    nodes, x = [], Tensor("x", (1, 8, 8, channels), np.int8, activation)
    for i in range(layers):
        data = rng.integers(-127, 128, (channels, 3, 3, channels), np.int8)
        weights = Tensor(f"w{i}", data.shape, np.int8, scales, data)
        bias = Tensor(f"b{i}", (channels,), np.int32, bias_scales, rng.integers(-999, 999, channels, np.int32))
        y = Tensor(f"y{i}", (1, 8, 8, channels), np.int8, activation)
        options = schema.Conv2DOptionsT()
        window_options(options, (1, 1), (1, 1), "same", "relu")
        nodes.append((Op("CONV_2D", options, 3), [x, weights, bias], [y]))
        x = y
    return build_graph(nodes)


def half(rng, channels=1024, layers=10):
    """Convolutions of 1x1 whose weights are in half precision, behind DEQUANTIZE."""
    nodes, x = [], Tensor("x", (1, 4, 4, channels), np.float32)
    for i in range(layers):
        operands = [x]
        for name, data in (("w", normal(rng, channels, 1, 1, channels)), ("b", normal(rng, channels))):
            stored = Tensor(f"{name}{i}_half", data.shape, np.float16, None, data.astype(np.float16))
            widened = Tensor(f"{name}{i}", data.shape, np.float32)
            nodes.append((Op("DEQUANTIZE", None, 3), [stored], [widened]))
            operands.append(widened)
        y = Tensor(f"y{i}", (1, 4, 4, channels), np.float32)
        options = schema.Conv2DOptionsT()
        window_options(options, (1, 1), (1, 1), "same", "relu")
        nodes.append((Op("CONV_2D", options, 2), operands, [y]))
        x = y
    return build_graph(nodes)


def normal(rng, *shape):
    return rng.normal(0, 0.05, shape).astype(np.float32)


if __name__ == "__main__":
    main(*sys.argv[1:])
