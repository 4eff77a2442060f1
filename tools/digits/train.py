"""Trains the digits example and writes everything that the repository ships of it.

    python3.11 -m venv /tmp/digits-venv
    /tmp/digits-venv/bin/pip install -r tools/digits/requirements.txt
    /tmp/digits-venv/bin/python tools/digits/train.py

Takes 15 seconds on one core. Writes `examples/digits/model/`:

    digits.tflite                    int8, from TensorFlow's full-integer quantization
    digits.json, digits.safetensors  the same network in float32, in our format
    heldout.bin                      the held-out images and labels (see data.py)
    cases/digits_int8, digits_float  held-out images with reference outputs

and prints the accuracy of both on the held-out images, which neither training
nor calibration sees.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # the same sums on every CPU

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools" / "reference"))

import numpy as np

import data
import network
from casefiles import tensor, write_case
from engines import (
    LITERT_REFERENCE,
    TFLITE_MICRO,
    litert_details,
    run_litert_reference,
    run_tflite_micro,
)

MODEL = REPOSITORY / "examples" / "digits" / "model"
EPOCHS = 40
SEED = 1
CALIBRATION_IMAGES = 200
CASE_SETS = 20


def main():
    (train_pixels, train_labels), (held_pixels, held_labels) = data.split()
    train_images, held_images = data.to_real(train_pixels), data.to_real(held_pixels)
    model = network.train(train_images, train_labels, EPOCHS, SEED)

    MODEL.mkdir(parents=True, exist_ok=True)
    data.write_held_out(MODEL / "heldout.bin", held_pixels, held_labels)
    network.write_net_json(model, MODEL / "digits.json")
    float_file = network.to_tflite_float(model)
    int8_file = network.to_tflite_int8(model, train_images[:CALIBRATION_IMAGES])
    (MODEL / "digits.tflite").write_bytes(int8_file)

    float_sets = [[image[None]] for image in held_images]
    float_results = run_litert_reference(float_file, float_sets)
    report("float32", float_results, held_labels)
    write_case(
        MODEL / "cases" / "digits_float",
        file="../../digits.json",
        what="float32 digits on held-out images; expected values within 1e-5",
        expected_from=f"{LITERT_REFERENCE}, on the float32 TFLite export",
        inputs=[tensor("image", (1, *data.IMAGE_SHAPE), "FLOAT32")],
        outputs=[tensor("probabilities", (1, network.CLASSES), "FLOAT32")],
        sets=list(zip(float_sets, float_results))[:CASE_SETS],
    )

    inputs, outputs = litert_details(int8_file)
    scale, zero_point = inputs[0]["scale"][0], inputs[0]["zero_point"][0]
    int8_sets = [[data.quantize(image[None], scale, zero_point)] for image in held_images]
    int8_results = run_tflite_micro(int8_file, int8_sets)
    report("int8", int8_results, held_labels)
    write_case(
        MODEL / "cases" / "digits_int8",
        file="../../digits.tflite",
        what="int8 digits on held-out images; expected values exact",
        expected_from=TFLITE_MICRO,
        inputs=inputs,
        outputs=outputs,
        sets=list(zip(int8_sets, int8_results))[:CASE_SETS],
    )
    print(f"digits.tflite: {len(int8_file)} bytes; {model.count_params()} parameters")


def report(kind, results, labels):
    """Prints the accuracy of the reference's answers to all held-out images."""
    answers = np.array([outputs[0].argmax() for outputs in results])
    right = int((answers == labels).sum())
    print(f"{kind}: {right} of {len(labels)} held-out images right, {100 * right / len(labels):.2f} %")


if __name__ == "__main__":
    main()
