"""Times what `aot_model!` costs a crate: a cold build, and a build of the crate alone.

    python3 tools/bench/macro_cost.py [MEGABYTES] [f32|i8] [FOLDER]

Makes a crate in FOLDER (a temporary one by default) whose model is one
`fully_connected` layer with MEGABYTES (10 by default) of random weights, floats or
8-bit integers, in a safetensors file, and builds it in the debug profile, as a user's crate: cargo's
defaults hold, this repository's profiles do not. Writes one JSON object to stdout:

    {"megabytes": 10, "weights": "f32",
     "cold": {"wall_s": 9.1, "cpu_s": 15.2}, "crate": {"wall_s": 2.1, "cpu_s": 2.4}}

`cold` builds everything, from the serde crates on; `crate` only the crate that calls
the macro: expansion and rustc. Downloads are not timed.
"""

import array
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INPUTS = 2_500
MANIFEST = """\
[package]
name = "macro-cost"
version = "0.0.0"
edition = "2024"

[dependencies]
aot-macros = {{ path = "{root}/aot-macros" }}
aot-rt = {{ path = "{root}/aot-rt" }}

[workspace]
"""
SOURCE = """\
//! Times the macro.

aot_macros::aot_model!("net.json");

fn main() {{
    println!("{{}}", Net::new().run(&[{one}; {inputs}])[0]);
}}
"""


def main(megabytes="10", dtype="f32", folder=None):
    folder = Path(folder or tempfile.mkdtemp())
    write_crate(folder, int(megabytes) * 1_000_000, dtype)
    subprocess.run(["cargo", "fetch", "-q"], cwd=folder, check=True)
    cold = build(folder)
    os.utime(folder / "src/main.rs")
    print(json.dumps({"megabytes": int(megabytes), "weights": dtype, "cold": cold, "crate": build(folder)}))


def write_crate(folder, size, dtype):
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(MANIFEST.format(root=ROOT))
    one = {"f32": "1.0", "i8": "1"}[dtype]
    (folder / "src/main.rs").write_text(SOURCE.format(inputs=INPUTS, one=one))
    outputs = size // (INPUTS * {"f32": 4, "i8": 1}[dtype])
    weights = {"dtype": dtype, "shape": [outputs, INPUTS]}
    network = {
        "format": "aot-net",
        "version": 1,
        "tensors": {
            "x": {"dtype": dtype, "shape": [1, INPUTS]},
            "w": weights | {"data": {"safetensors": "net.safetensors", "tensor": "w"}},
            "y": {"dtype": dtype, "shape": [1, outputs]},
        },
        "inputs": ["x"],
        "outputs": ["y"],
        "nodes": [{"op": "fully_connected", "name": "dense", "inputs": ["x", "w", None], "outputs": ["y"]}],
    }
    if dtype == "i8":
        for tensor in network["tensors"].values():
            tensor["quantization"] = {"scale": [0.1], "zero_point": [0]}
    (folder / "net.json").write_text(json.dumps(network, indent=2))
    random.seed(1)
    if dtype == "i8":
        data = random.randbytes(outputs * INPUTS)
    else:
        data = array.array("f", (random.gauss(0.0, 1.0) for _ in range(outputs * INPUTS))).tobytes()
    entry = {"dtype": dtype.upper(), "shape": weights["shape"], "data_offsets": [0, len(data)]}
    header = json.dumps({"w": entry}).encode()
    (folder / "net.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)


def build(folder):
    """Seconds of one `cargo build`."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CARGO")}
    environment["CARGO_TARGET_DIR"] = str(folder / "target")
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(["cargo", "build", "--offline", "-q"], cwd=folder, env=environment, check=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": round(wall, 1), "cpu_s": round(cpu, 1)}


if __name__ == "__main__":
    main(*sys.argv[1:])
