"""Times the models of the benchmark beside other tools, on one machine in one run.

    python3.11 -m venv /tmp/bench-venv
    /tmp/bench-venv/bin/pip install -r tools/bench/requirements.txt
    /tmp/bench-venv/bin/python tools/bench/compare.py

Runs `cargo bench` (generated code, both levels of `optimize`), `tests/peers` (tract)
and `tools/bench/litert.py` (LiteRT with one thread: XNNPACK, and reference kernels),
then prints one Markdown table of median microseconds of one inference. `-` stands
where a tool refuses a model. Models of `../shared/models` (or $AOT_SHARED/models) are
timed where they are there. A loaded machine spoils the figures.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("AOT_SHARED", ROOT.parent / "shared")) / "models"


def main():
    run(["cargo", "bench", "--quiet", "--package", "aot-bench"])
    ours = criterion_medians()
    paths = {name: model_path(name) for name in ours}
    tflite = [str(path) for path in paths.values() if path.suffix == ".tflite"]
    peers = ["cargo", "run", "--quiet", "--release", "--manifest-path", str(ROOT / "tests/peers/Cargo.toml")]
    tract = json.loads(run([*peers, "--", *tflite]))
    litert = json.loads(run([sys.executable, str(ROOT / "tools/bench/litert.py"), *tflite]))

    print(f"{cpu()}, {platform.system()}, {run(['rustc', '--version']).strip()}\n")
    print("| model | `speed` | `size` | `speed`, `memory = \"min\"` | tract | LiteRT, XNNPACK | LiteRT, reference |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, medians in ours.items():
        path = str(paths[name])
        others = litert.get(path) or {}
        cells = [
            medians.get("speed"),
            medians.get("size"),
            medians.get("min"),
            tract.get(path, {}).get("tract_us"),
            others.get("xnnpack_us"),
            others.get("reference_us"),
        ]
        print(f"| {name} | " + " | ".join(map(cell, cells)) + " |")


def run(command):
    """Runs a command in the repository and gives what it prints."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def criterion_medians():
    """Model name to way of compiling to median microseconds."""
    medians = {}
    for file in sorted((ROOT / "target/criterion").glob("*/new/estimates.json")):
        benchmark = json.loads((file.parent / "benchmark.json").read_text())
        name, way = benchmark["full_id"].split("/")
        nanoseconds = json.loads(file.read_text())["median"]["point_estimate"]
        medians.setdefault(name, {})[way] = nanoseconds / 1e3
    return medians


def model_path(name):
    own = {"digits_int8": "digits.tflite", "digits_float": "digits.json"}
    return ROOT / "examples/digits/model" / own[name] if name in own else SHARED / name / "model.tflite"


def cell(microseconds):
    if microseconds is None:
        return "-"
    return f"{microseconds:.2f}" if microseconds < 10 else f"{microseconds:.0f}"


def cpu():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()
