"""The digits that scikit-learn ships, and how they are split.

1797 images of 8x8 pixels, each 0 (white) to 16 (black); ten classes.

`heldout.bin` is what the Rust examples include: for each image 64 bytes, the
pixels row by row, then one byte, the label.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HELD_OUT = 0.30
SEED = 8
PIXEL_MAX = 16
IMAGE_SHAPE = (8, 8, 1)


def split():
    """(training pixels, training labels), (held-out pixels, held-out labels).

    Pixels are u8 [n, 8, 8, 1], labels u8 [n]. Stratified: every class has the
    same share in both parts.
    """
    digits = load_digits()
    pixels = digits.images.astype(np.uint8).reshape(-1, *IMAGE_SHAPE)
    labels = digits.target.astype(np.uint8)
    train_pixels, held_pixels, train_labels, held_labels = train_test_split(
        pixels, labels, test_size=HELD_OUT, random_state=SEED, stratify=labels
    )
    return (train_pixels, train_labels), (held_pixels, held_labels)


def to_real(pixels):
    """The network's input: pixels as float32 from 0 to 1."""
    return pixels.astype(np.float32) / np.float32(PIXEL_MAX)


def quantize(real, scale, zero_point):
    """float32 to int8 as TFLite does it: divide, round half away from zero, clamp."""
    scaled = real.astype(np.float32) / np.float32(scale)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    return np.clip(rounded + zero_point, -128, 127).astype(np.int8)


def write_held_out(path, pixels, labels):
    """Writes `heldout.bin`."""
    rows = np.concatenate([pixels.reshape(len(pixels), -1), labels[:, None]], axis=1)
    path.write_bytes(rows.astype(np.uint8).tobytes())
