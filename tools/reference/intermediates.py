"""Writes what tensors within a model hold, as LiteRT's reference kernels compute them.

    python intermediates.py MODEL INPUT.npy FOLDER TENSOR...

`tests/instrument/reference` is made so. Needs numpy and ai-edge-litert.
"""

import sys
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType


def main(model, array, folder, names):
    interpreter = Interpreter(
        model,
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    [x] = interpreter.get_input_details()
    interpreter.set_tensor(x["index"], np.load(array).reshape(x["shape"]))
    interpreter.invoke()
    tensors = {tensor["name"]: tensor["index"] for tensor in interpreter.get_tensor_details()}
    for i, name in enumerate(names):
        np.save(Path(folder) / f"kept{i}.npy", interpreter.get_tensor(tensors[name]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
