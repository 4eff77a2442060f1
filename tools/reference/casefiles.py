"""Case folders: one model, and what a reference says that it answers.

The layout (little-endian `.npy`, C order):

    NAME/meta.json              what the case is and where its results come from
    NAME/model.tflite           the model, unless meta.json "file" points elsewhere
    NAME/s0/in0.npy, out0.npy   one folder for each set of inputs; `inN` and `outN`
                                in the order of the model's inputs and outputs

Needs numpy.
"""

import json
import shutil
from pathlib import Path

import numpy as np


def tensor(name, shape, dtype, scale=None, zero_point=None):
    """One entry of "inputs" or "outputs" in meta.json."""
    entry = {"name": name, "shape": list(shape), "dtype": dtype}
    if scale is not None:
        entry["scale"] = [float(scale)]
        entry["zero_point"] = [int(zero_point)]
    return entry


def write_case(folder, *, file, expected_from, inputs, outputs, what, sets, model=None, steps=None):
    """Writes a case folder afresh.

    `sets`: a list of (inputs, outputs), each a list of arrays; where the model keeps
    state, their first axis has so many `steps`.
    `model`: the bytes to write as `file`; without them `file` must already be
    there, as a path relative to `folder`.
    """
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if model is not None:
        (folder / file).write_bytes(model)
    if not (folder / file).is_file():
        raise FileNotFoundError(f"{folder / file}: named by the case, but not there")
    meta = {
        "name": folder.name,
        "what": what,
        "file": file,
        "expected_from": expected_from,
        "inputs": inputs,
        "outputs": outputs,
        "sequence_steps": steps,
    }
    (folder / "meta.json").write_text(one_line_per_tensor(meta))
    for index, (ins, outs) in enumerate(sets):
        (folder / f"s{index}").mkdir()
        for kind, arrays in ("in", ins), ("out", outs):
            for position, array in enumerate(arrays):
                path = folder / f"s{index}" / f"{kind}{position}.npy"
                np.save(path, np.array(array, order="C"))


def one_line_per_tensor(meta):
    """JSON that stays short and readable: one line for each key, and for each tensor."""
    lines = []
    for key, value in meta.items():
        if isinstance(value, list):
            body = ",\n    ".join(json.dumps(entry) for entry in value)
            lines.append(f"{json.dumps(key)}: [\n    {body}\n  ]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n  " + ",\n  ".join(lines) + "\n}\n"
