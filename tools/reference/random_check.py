"""Compares random models of every quantized operator with a reference, integer by integer.

    python tools/reference/random_check.py --aot target/debug/aot [--seed N] [--operator NAME ...]

For each operator that `aot operators` lists, and each row of types with an int4, int8, uint8
or int16 element in it, models are drawn (`draws/`) until there are at least 40 of them with
10 000 elements of results. TensorFlow Lite Micro runs them, or LiteRT's reference kernels
where it has no such operator; where both are wrong in a known way the draw computes what is
right. Then `aot run --case` runs all of them in one process. The exit code is 1 when one
element differs, when a model is refused that `REFUSED` does not name, or when an operator
has no draw and `NOT_ARITHMETIC` does not say why. The cases are then left where they are.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import time
import zlib
from dataclasses import dataclass, field, replace
from multiprocessing import connection
from pathlib import Path

import numpy as np

from casefiles import write_case
from draws import DRAWS
from draws.common import LITERT, MICRO
from engines import run_litert_reference, run_tflite_micro
from tflite_file import build

FEWEST_MODELS, FEWEST_ELEMENTS = 40, 10_000
QUANTIZED = {"i4", "i8", "u8", "i16"}
# Tries for each model that is wanted, before a draw is called useless.
TRIES = 8
ROUNDS = 20
# Seconds that the models of one row may take.
LONGEST = 120
# The share of a row's results that must not be at an end of the range.
INSIDE = 0.1

# Operators that compute nothing: why no models of them are drawn.
NOT_ARITHMETIC = {
    "DENSIFY": "decoding of a constant, done when the model is read",
    "LSTM": "the kernel is that of UNIDIRECTIONAL_SEQUENCE_LSTM, with one step",
    "RANK": "folded to a constant",
    "SHAPE": "folded to a constant",
}

# What we refuse and the reference computes: operator, what the message says.
REFUSED = [
    # LiteRT quantizes each image of a batch by itself.
    ("CONV_2D", "is a batch of .*, and weights are i8"),
    ("DEPTHWISE_CONV_2D", "is a batch of .*, and weights are i8"),
    # A 15-bit multiplier and a shift to the right do not reach so far.
    ("CONV_2D", "the scales' ratio .* is too large"),
    ("FULLY_CONNECTED", "the scales' ratio .* is too large"),
    # LiteRT's product wraps around in 32 bits.
    ("REDUCE_PROD", "a product of .* elements can overflow 32 bits"),
]


# Rows whose tables the reference makes with a function of its C library that is not rounded
# correctly, `erfcf`: its last bit decides where a result lies half-way between two steps.
# An element may be one step off there, one of so many.
BY_LIBRARY = {("GELU", "i16"): 10_000}


@dataclass
class Row:
    """One operator with one row of types, and what became of its models."""

    operator: str
    types: tuple
    models: int = 0
    elements: int = 0
    redrawn: int = 0
    refused: int = 0
    differences: int = 0
    half_way: int = 0
    inside: int = 0
    seconds: float = 0.0
    next_index: int = 0
    problems: list = field(default_factory=list)

    @property
    def name(self):
        return f"{self.operator} {', '.join(self.types[:-1])} -> {self.types[-1]}"

    @property
    def folder(self):
        return "-".join([self.operator.lower(), *self.types])

    def wanted(self):
        """Whether there are not enough models or elements yet."""
        return self.models < FEWEST_MODELS or self.elements < FEWEST_ELEMENTS


def main():
    arguments = parse()
    print(f"seed {arguments.seed}")
    rows, missing, without = rows_of(arguments.aot, arguments.operator)
    for name in without:
        print(f"none {name}: {NOT_ARITHMETIC[name]}")
    for name in missing:
        print(f"FAIL {name}: no draw in tools/reference/draws")
    shutil.rmtree(arguments.folder, ignore_errors=True)
    for round_ in range(ROUNDS):
        pending = [row for row in rows.values() if row.wanted() and not row.problems]
        if not pending:
            break
        folder = arguments.folder / str(round_)
        draw_all(pending, folder, arguments.seed, rows)
        compare(arguments.aot, folder, rows)
    failed = len(missing) + sum(not report(row) for row in rows.values())
    total = [sum(getattr(row, key) for row in rows.values()) for key in ("models", "elements", "differences")]
    counts = f"{total[0]} configurations, {total[1]} elements, {total[2]} differences"
    print(f"{len(rows)} rows, {counts}, {failed} rows failed")
    if failed:
        raise SystemExit(1)
    shutil.rmtree(arguments.folder)


def parse():
    root = Path(__file__).resolve().parents[2]
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    parser = argparse.ArgumentParser()
    parser.add_argument("--aot", type=Path, default=target / "debug" / "aot", help="the `aot` tool")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operator", nargs="+", help="only these: CONV_2D")
    parser.add_argument("--folder", type=Path, default=target / "random_check", help="for the cases")
    return parser.parse_args()


def rows_of(aot, only):
    """The rows to be checked by their folder's name, operators without a draw, and those that need none."""
    listed = json.loads(subprocess.run([aot, "operators", "--json"], check=True, capture_output=True).stdout)
    rows, missing, without = {}, set(), set()
    for operator in listed["operators"]:
        name = operator["name"]
        if only and name not in only:
            continue
        for types in operator["types"]:
            row = Row(name, (*types["operands"], types["result"]))
            if not QUANTIZED & set(row.types):
                continue
            if name in DRAWS:
                rows[row.folder] = row
            else:
                (without if name in NOT_ARITHMETIC else missing).add(name)
    unknown = set(only or ()) - {operator["name"] for operator in listed["operators"]}
    return rows, sorted(missing | unknown), sorted(without)


def draw_all(pending, folder, seed, rows):
    """Draws models of all rows and runs the references, each row in a process of its own.

    So a reference that ends or blocks its process is a failure of that row.
    """
    folder.mkdir(parents=True)
    context = multiprocessing.get_context("fork")
    waiting, running = list(pending), {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            row = waiting.pop(0)
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=draw_row, args=(row, folder, seed, sender))
            process.start()
            sender.close()
            running[receiver] = process, row
        ready = connection.wait(running, LONGEST)
        for receiver in ready or list(running):
            process, row = running.pop(receiver)
            if not ready:
                process.kill()
            try:
                rows[row.folder] = receiver.recv()
            except EOFError:
                row.problems.append(f"{folder / row.folder}-*: the reference ended or blocked its process")
            process.join()


def draw_row(row, folder, seed, sender):
    """Draws as many models as the row still wants, writes them as cases, and sends the row."""
    # What the references print goes to a file.
    log = os.open(folder / f"{row.folder}.log", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    start = time.perf_counter()
    models = elements = 0
    draws = 0
    while row.models + models < FEWEST_MODELS or row.elements + elements < FEWEST_ELEMENTS:
        draws += 1
        if draws > TRIES * FEWEST_MODELS:
            row.problems.append(f"{draws} models drawn, the reference refuses {row.redrawn}")
            break
        index, row.next_index = row.next_index, row.next_index + 1
        rng = np.random.default_rng([seed, zlib.crc32(row.folder.encode()), index])
        try:
            model = DRAWS[row.operator](rng, row.types)
        except Exception as error:  # a fault of the draw, not of a reference
            row.problems.append(f"model {index} cannot be drawn: {error!r}")
            break
        case = folder / f"{row.folder}-{index:04}"
        try:
            outputs = results(model)
        except (RuntimeError, ValueError):
            row.redrawn += 1
            continue
        count = write(case, model, outputs)
        models, elements = models + 1, elements + count
    row.seconds += time.perf_counter() - start
    sender.send(row)


def results(model):
    """What is right, for each set."""
    binary = build(model.op, as_int8(model.operands), as_int8(model.results))
    engines = {MICRO: run_tflite_micro, LITERT: run_litert_reference, None: lambda *_: None}
    outputs = engines[model.engine](binary, model.sets)
    if model.correct is not None:
        outputs = model.correct(model.sets, outputs)
    for arrays in outputs:
        for array, tensor in zip(arrays, model.results, strict=True):
            if (array.shape, array.dtype) != (tuple(tensor.shape), np.dtype(tensor.dtype)):
                raise AssertionError(f"{model.op.name}: {array.shape} {array.dtype} for {tensor}")
    return outputs


def as_int8(tensors):
    """The tensors with int8 for int4, see `draws/four_bits.py`."""
    return [replace(tensor, four_bits=False) if tensor and tensor.four_bits else tensor for tensor in tensors]


def write(case, model, outputs):
    """Writes a case, its sets as steps of one sequence; returns the number of elements in its results."""
    inputs, expected = ([np.stack(arrays) for arrays in zip(*sets)] for sets in (model.sets, outputs))
    write_case(
        case,
        file="model.tflite",
        model=build(model.op, model.operands, model.results),
        expected_from=model.engine or "computed",
        inputs=[],
        outputs=[],
        what=model.op.name.lower(),
        sets=[(inputs, expected)],
    )
    return sum(array.size for array in expected)


def compare(aot, folder, rows):
    """Runs all cases of a folder with our tool, and counts."""
    start = time.perf_counter()
    ran = subprocess.run([aot, "run", "--case", folder, "--json"], capture_output=True, text=True)
    if not ran.stdout:
        raise SystemExit(f"aot run gave nothing: {ran.stderr}")
    answer = json.loads(ran.stdout)
    print(f"ours: {len(answer['cases'])} cases in {time.perf_counter() - start:.1f} s")
    for case in answer["cases"]:
        path = Path(case["case"])
        count(rows[path.name.rsplit("-", 1)[0]], case, path)


def count(row, case, path):
    """Adds a case that was run to its row."""
    if case["errors"]:
        message = "; ".join(p["message"] for error in case["errors"] for p in error["problems"])
        if any(row.operator == operator and re.search(says, message) for operator, says in REFUSED):
            row.refused += 1
        else:
            row.problems.append(f"{path}: refused: {message}")
        return
    row.models += 1
    differing = 0
    for output in (output for set_ in case["sets"] for output in set_["outputs"]):
        difference = output["difference"]
        row.elements += difference["elements"]
        within = difference["largest"] is not None and difference["largest"] <= difference["allowed"]
        if within:
            continue
        if (row.operator, row.types[0]) in BY_LIBRARY and difference["largest"] == 1:
            row.half_way += difference["differing"]
        else:
            differing += difference["differing"]
    row.inside += elements_inside(path)
    if differing:
        row.differences += differing
        row.problems.append(f"{path}: {differing} elements differ")


def elements_inside(path):
    """Elements of the expected results that are not at an end of their range."""
    inside = 0
    for file in path.glob("s*/out*.npy"):
        array = np.load(file)
        if array.dtype.kind in "iu":
            info = np.iinfo(array.dtype)
            inside += np.count_nonzero((array != info.min) & (array != info.max))
        else:
            inside += array.size
    return inside


def report(row):
    """Prints a row; whether all is well."""
    if row.wanted() and not row.problems:
        row.problems.append("not enough models")
    if row.elements and row.inside < INSIDE * row.elements:
        row.problems.append("nearly all results are at the ends of the range")
    if row.half_way * BY_LIBRARY.get((row.operator, row.types[0]), 1) > row.elements:
        row.problems.append(f"{row.half_way} elements are one step off")
    verdict = "FAIL" if row.problems else "ok  "
    share = row.inside / max(row.elements, 1)
    more = f", {row.redrawn} redrawn" if row.redrawn else ""
    more += f", {row.refused} refused by us" if row.refused else ""
    more += f", {row.half_way} one step off, see BY_LIBRARY" if row.half_way else ""
    print(
        f"{verdict} {row.name}: {row.models} configurations, {row.elements} elements"
        f" ({share:.0%} inside the range), {row.differences} differences, {row.seconds:.1f} s{more}"
    )
    for problem in row.problems[:5]:
        print(f"       {problem}")
    return not row.problems


if __name__ == "__main__":
    main()
