"""Makes a network with a state of the digits network: rows of an image come one at a time.

    cargo build -p aot-build --features cli --bin aot
    python3 tools/digits/rows.py target/debug/aot

Needs `tools/reference/requirements.txt`, and what `train.py` has written. The network keeps the last seven rows, joins
them to the one that comes in, and says what digit it sees in these eight; before the first
row, all is paper. Writes `examples/firmware/wake-word/model/`:

    rows.json, rows.safetensors  the network, with the weights of `digits.tflite`
    s0/in0.npy, s0/out0.npy      held-out images, row after row, and for each row what
                                 TensorFlow Lite Micro says of `digits.tflite` and the last
                                 eight rows
"""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools" / "reference"))

import numpy as np

from engines import run_tflite_micro

MODEL = REPOSITORY / "examples" / "digits" / "model"
FOLDER = REPOSITORY / "examples" / "firmware" / "wake-word" / "model"
IMAGES = 6
ROWS = COLUMNS = 8
PAPER = -128


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / "rows.json"
    subprocess.run([sys.argv[1], "export", MODEL / "digits.tflite", "-o", file], check=True)
    file.write_text(json.dumps(with_rows(json.loads(file.read_text())), indent=1) + "\n")
    write_set(FOLDER / "s0")


def with_rows(net):
    """The network that takes a row and keeps the others."""
    image = net["tensors"]["image"]

    def rows(count, **data):
        return {**image, "shape": [1, count, COLUMNS, 1], **data}

    paper = {"values": [PAPER] * ((ROWS - 1) * COLUMNS)}
    net["name"] = "digits, row after row"
    net["tensors"] |= {
        "row": rows(1),
        "rows": rows(ROWS - 1),
        "next rows": rows(ROWS - 1),
        "paper": rows(ROWS - 1, data=paper),
    }
    net["inputs"] = ["row"]
    net["states"] = [{"before": "rows", "after": "next rows", "initial": "paper"}]
    join = {"op": "concatenation", "inputs": ["rows", "row"], "outputs": ["image"], "attributes": {"axis": 1}}
    size = {"begin": [0, 1, 0, 0], "size": [1, ROWS - 1, COLUMNS, 1]}
    keep = {"op": "slice", "inputs": ["image"], "outputs": ["next rows"], "attributes": size}
    net["nodes"] = [join, keep, *net["nodes"]]
    return net


def write_set(folder):
    """Writes the rows of some images, and what the reference says after each."""
    folder.mkdir(exist_ok=True)
    images = [np.load(MODEL / f"cases/digits_int8/s{i}/in0.npy") for i in range(IMAGES)]
    rows = np.concatenate(images, axis=1)
    before = np.full((1, ROWS - 1, COLUMNS, 1), PAPER, np.int8)
    padded = np.concatenate([before, rows], axis=1)
    windows = [[padded[:, i : i + ROWS]] for i in range(rows.shape[1])]
    outputs = run_tflite_micro((MODEL / "digits.tflite").read_bytes(), windows)
    np.save(folder / "in0.npy", rows.reshape(-1, 1, 1, COLUMNS, 1))
    np.save(folder / "out0.npy", np.array([output for [output] in outputs]))


if __name__ == "__main__":
    main()
