"""Times TFLite models with LiteRT on one thread: XNNPACK, and the reference kernels.

    python3.11 -m venv /tmp/bench-venv
    /tmp/bench-venv/bin/pip install -r tools/bench/requirements.txt
    /tmp/bench-venv/bin/python tools/bench/litert.py MODEL.tflite ...

Writes one JSON object to stdout, model path to median microseconds of one
inference; null where LiteRT does not run the model:

    {"net.tflite": {"xnnpack_us": 12.3, "reference_us": 456.7}}

`xnnpack_us` is LiteRT's default: operators that XNNPACK does not take run on its
optimized kernels. If it takes none, stderr says so.

Timed is `invoke()` alone, not the copies in and out. It contains the call from
Python, about half a microsecond, which counts for the smallest models. Inputs
are random, the same in every run. A loaded machine spoils the figures.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

WARM_UP_SECONDS = 0.2
MEASURED_SECONDS = 1.0
FEWEST_RUNS = 5
ENGINES = {"xnnpack_us": OpResolverType.AUTO, "reference_us": OpResolverType.BUILTIN_REF}


def main(paths):
    if not paths:
        raise SystemExit(__doc__)
    times = {
        path: {key: median_microseconds(path, engine) for key, engine in ENGINES.items()} for path in paths
    }
    print(json.dumps(times, indent=2))


def median_microseconds(path, engine):
    """The median time of one inference, or None if the model does not run."""
    try:
        interpreter = Interpreter(
            model_content=Path(path).read_bytes(), experimental_op_resolver_type=engine, num_threads=1
        )
        interpreter.allocate_tensors()
        fill_inputs(interpreter)
        interpreter.invoke()
    except (RuntimeError, ValueError) as error:
        print(f"{path}: {engine.name}: {str(error).splitlines()[0]:.120}", file=sys.stderr)
        return None
    if engine is OpResolverType.AUTO and not delegated(interpreter):
        print(f"{path}: XNNPACK takes no operator", file=sys.stderr)
    repeat(interpreter.invoke, WARM_UP_SECONDS)
    return round(statistics.median(repeat(interpreter.invoke, MEASURED_SECONDS)) / 1000, 2)


def repeat(call, seconds):
    """Nanoseconds of each call, for as long as `seconds`."""
    times = []
    end = time.perf_counter_ns() + int(seconds * 1e9)
    while (start := time.perf_counter_ns()) < end or len(times) < FEWEST_RUNS:
        call()
        times.append(time.perf_counter_ns() - start)
    return times


def fill_inputs(interpreter):
    """Random inputs: standard normal, or every value of an integer type."""
    rng = np.random.default_rng(0)
    for detail in interpreter.get_input_details():
        shape, dtype = detail["shape"], np.dtype(detail["dtype"])
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            values = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        else:
            values = rng.standard_normal(shape).astype(dtype)
        interpreter.set_tensor(detail["index"], values)


def delegated(interpreter):
    """Whether a delegate runs any part of the model."""
    return any(op["op_name"] == "DELEGATE" for op in interpreter._get_ops_details())


if __name__ == "__main__":
    main(sys.argv[1:])
