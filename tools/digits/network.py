"""The network: its layers, its training, its two exports.

image 8x8x1
conv1    3x3, 16 channels, same, relu
conv2    3x3, 16 channels, same, relu
pool2    max 2x2, stride 2                 -> 4x4x16
conv3    3x3, 32 channels, same, relu
pool3    max 2x2, stride 2                 -> 2x2x32
flatten  128
dense    10
softmax
"""

import json

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from safetensors.numpy import save_file

from data import IMAGE_SHAPE

CLASSES = 10


def build(batch=None):
    """The network, untrained.

    With a fixed batch it is ready for export: no shape arithmetic comes into the
    file, and the signature names the output.
    """
    image = keras.Input(IMAGE_SHAPE, batch_size=batch, name="image")
    x = layers.Conv2D(16, 3, padding="same", activation="relu", name="conv1")(image)
    x = layers.Conv2D(16, 3, padding="same", activation="relu", name="conv2")(x)
    x = layers.MaxPooling2D(2, name="pool2")(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu", name="conv3")(x)
    x = layers.MaxPooling2D(2, name="pool3")(x)
    x = layers.Flatten(name="flatten")(x)
    x = layers.Dense(CLASSES, name="dense")(x)
    probabilities = layers.Softmax(name="probabilities")(x)
    outputs = {"probabilities": probabilities} if batch else probabilities
    return keras.Model(image, outputs, name="digits")


def train(images, labels, epochs, seed):
    """A trained network with batch 1."""
    keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()
    model = build()
    steps = epochs * -(-len(images) // 32)
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, steps)),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(images, labels, batch_size=32, epochs=epochs, verbose=0)
    exported = build(batch=1)
    exported.set_weights(model.get_weights())
    return exported


def to_tflite_float(model):
    """The network as a float32 TFLite file: only the source of expected values."""
    return tf.lite.TFLiteConverter.from_keras_model(model).convert()


def to_tflite_int8(model, calibration_images):
    """Full-integer post-training quantization by TensorFlow's converter.

    Weights per channel, activations, input and output int8.
    """
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[None]] for image in calibration_images)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    return converter.convert()


def write_net_json(model, path):
    """Writes the network in our own format: `path` and a .safetensors beside it.

    Keras keeps the output channels of weights last, net.json (as TFLite) first.
    """
    weights = path.with_suffix(".safetensors")
    arrays = {}
    for layer in ("conv1", "conv2", "conv3", "dense"):
        kernel, bias = model.get_layer(layer).get_weights()
        arrays[f"{layer}/weights"] = np.ascontiguousarray(np.moveaxis(kernel, -1, 0))
        arrays[f"{layer}/bias"] = bias
    save_file(arrays, weights)
    weights.chmod(0o644)

    tensors = {"image": {"dtype": "f32", "shape": [1, *IMAGE_SHAPE]}}
    for name, array in arrays.items():
        tensors[name] = {
            "dtype": "f32",
            "shape": list(array.shape),
            "data": {"safetensors": weights.name, "tensor": name},
        }
    tensors["probabilities"] = {"dtype": "f32", "shape": [1, CLASSES]}

    def node(op, name, source, **attributes):
        inputs = [source]
        if f"{name}/weights" in arrays:
            inputs += [f"{name}/weights", f"{name}/bias"]
        entry = {"op": op, "name": name, "inputs": inputs, "outputs": [name]}
        return entry | ({"attributes": attributes} if attributes else {})

    halve = {"window": [2, 2], "stride": [2, 2]}
    nodes = [
        node("conv2d", "conv1", "image", padding="same", activation="relu"),
        node("conv2d", "conv2", "conv1", padding="same", activation="relu"),
        node("max_pool2d", "pool2", "conv2", **halve),
        node("conv2d", "conv3", "pool2", padding="same", activation="relu"),
        node("max_pool2d", "pool3", "conv3", **halve),
        node("reshape", "flatten", "pool3", shape=[1, arrays["dense/weights"].shape[1]]),
        node("fully_connected", "dense", "flatten"),
        node("softmax", "probabilities", "dense"),
    ]
    path.write_text(render(model.name, tensors, nodes))


def render(name, tensors, nodes):
    """JSON with one tensor or node a line."""
    tensor_lines = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in tensors.items())
    node_lines = ",\n".join(f"    {json.dumps(entry)}" for entry in nodes)
    return (
        f'{{\n  "format": "aot-net",\n  "version": 1,\n  "name": {json.dumps(name)},\n'
        f'  "tensors": {{\n{tensor_lines}\n  }},\n'
        f'  "inputs": ["image"],\n  "outputs": ["probabilities"],\n'
        f'  "nodes": [\n{node_lines}\n  ]\n}}\n'
    )
