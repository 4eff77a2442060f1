"""The reference interpreters that expected results come from.

- int8: TensorFlow Lite Micro, which rounds twice (regime A of our numerics notes).
- float32: LiteRT with its reference kernels (no XNNPACK).

Needs numpy, tflite-micro and ai-edge-litert.
"""

import os
from importlib.metadata import version

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tflite_micro
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from casefiles import tensor

TFLITE_MICRO = f"tflite-micro {version('tflite-micro')}"
LITERT_REFERENCE = f"ai-edge-litert {version('ai-edge-litert')}, BUILTIN_REF"


def run_tflite_micro(model, sets, arena_bytes=1 << 20):
    """Outputs of TensorFlow Lite Micro for each list of inputs in `sets`."""
    interpreter = tflite_micro.runtime.Interpreter.from_bytes(bytes(model), arena_size=arena_bytes)
    results = []
    for inputs in sets:
        for index, array in enumerate(inputs):
            interpreter.set_input(np.array(array, order="C"), index)
        interpreter.invoke()
        results.append([np.array(interpreter.get_output(i)) for i in range(output_count(model))])
    return results


def run_litert_reference(model, sets):
    """Outputs of LiteRT's reference kernels for each list of inputs in `sets`."""
    interpreter = litert(model, OpResolverType.BUILTIN_REF)
    results = []
    for inputs in sets:
        for detail, array in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        results.append([interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()])
    return results


def litert(model, resolver):
    """A LiteRT interpreter with one thread, ready to be given its inputs."""
    interpreter = Interpreter(
        model_content=bytes(model), experimental_op_resolver_type=resolver, num_threads=1
    )
    interpreter.allocate_tensors()
    return interpreter


def output_count(model):
    """How many outputs a TFLite model has, without running it."""
    from ai_edge_litert import schema_py_generated as schema

    return schema.Model.GetRootAs(bytes(model)).Subgraphs(0).OutputsLength()


def litert_details(model):
    """The "inputs" and "outputs" of meta.json, as LiteRT reads them from the file."""
    interpreter = litert(model, OpResolverType.BUILTIN_REF)

    def entry(detail):
        quantization = detail["quantization_parameters"]
        scales = quantization["scales"]
        pair = (scales[0], quantization["zero_points"][0]) if len(scales) else ()
        dtype = np.dtype(detail["dtype"]).name.upper()
        return tensor(detail["name"], detail["shape"].tolist(), dtype, *pair)

    return (
        [entry(d) for d in interpreter.get_input_details()],
        [entry(d) for d in interpreter.get_output_details()],
    )
