"""Writes the single-operator conformance cases and the models to be refused.

    python3.11 -m venv /tmp/reference-venv
    /tmp/reference-venv/bin/pip install -r tools/reference/requirements.txt
    /tmp/reference-venv/bin/python tools/reference/make_cases.py

Writes `tests/conformance/cases/NAME/` (layout: casefiles.py) and
`tests/conformance/refused/`. Takes a few seconds. Everything is seeded: a second run
writes the same bytes. Prints where LiteRT's reference kernels disagree with
TensorFlow Lite Micro, whose int8 results are the expected ones; those of types that it
does not run are LiteRT's.
"""

import shutil
from pathlib import Path

import numpy as np

from casefiles import write_case
from engines import run_litert_reference
from families import (
    arithmetic,
    compact,
    control,
    convolution,
    elementwise,
    faults,
    fully_connected,
    functions,
    integers,
    layout,
    legacy,
    legacy_functions,
    logic,
    matrices,
    lookups,
    movement,
    normalizations,
    pooling,
    recurrent,
    reductions,
    refused,
    shapes,
    resizing,
    shorts,
    signal,
    storage,
    transposed,
    wide,
)

CONFORMANCE = Path(__file__).resolve().parents[2] / "tests" / "conformance"
FAMILIES = (
    convolution,
    fully_connected,
    pooling,
    elementwise,
    arithmetic,
    functions,
    logic,
    layout,
    movement,
    faults,
    legacy,
    shapes,
    storage,
    wide,
    transposed,
    resizing,
    matrices,
    compact,
    recurrent,
    shorts,
    integers,
    legacy_functions,
    signal,
    reductions,
    lookups,
    normalizations,
    control,
)


def main():
    folder = CONFORMANCE / "cases"
    shutil.rmtree(folder, ignore_errors=True)
    names = set()
    failures = []
    for case in (case for family in FAMILIES for case in family.all_cases()):
        if case.name in names:
            raise ValueError(f"{case.name}: named twice")
        names.add(case.name)
        try:
            results, source = case.results()
        except RuntimeError as error:
            failures.append(f"{case.name}: {error}")
            continue
        write_case(
            folder / case.name,
            file="model.tflite",
            model=case.model,
            expected_from=source,
            inputs=case.inputs,
            outputs=case.outputs,
            what=case.what,
            steps=case.steps,
            sets=list(zip(case.sets, results, strict=True)),
            config=case.config,
        )
        compare(case, results)
    refused.write(CONFORMANCE / "refused")
    sizes = [path.stat().st_size for path in CONFORMANCE.rglob("*") if path.is_file()]
    print(f"{len(names)} cases; {len(sizes)} files, {sum(sizes)} bytes")
    if failures:
        raise SystemExit("no reference result:\n" + "\n".join(failures))


def compare(case, results):
    """Says where LiteRT's reference kernels answer differently."""
    declared = [tuple(output["shape"]) for output in case.outputs]
    result = np.concatenate([output.ravel() for outputs in results for output in outputs]).astype(np.float64)
    shapes = [output.shape[0 if case.steps is None else 1 :] for output in results[0]]
    if shapes != declared:
        print(f"{case.name}: results have shapes {shapes}, declared {declared}")
    if len(np.unique(result)) == 1 and result.size > 4:
        print(f"{case.name}: all {result.size} expected values are {result[0]}")
    if case.engine != "micro":
        return
    try:
        other = case.run(run_litert_reference)
    except (RuntimeError, ValueError) as error:
        print(f"{case.name}: LiteRT refuses: {str(error).splitlines()[0]}")
        return
    other = np.concatenate([output.ravel() for outputs in other for output in outputs]).astype(np.float64)
    difference = np.abs(other - result)
    if difference.any():
        print(
            f"{case.name}: LiteRT differs in {np.count_nonzero(difference)} of {result.size},"
            f" at most by {difference.max():g}"
        )


if __name__ == "__main__":
    main()
