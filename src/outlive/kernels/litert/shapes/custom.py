"""Custom operators that LiteRT's own resolvers know, with options in a FlexBuffer."""

from __future__ import annotations

from outlive.kernels.flexbuffers import read_options
from outlive.kernels.litert.shapes.outcome import Outcome, Outcomes, Rule, View, need, shaped
from outlive.kernels.litert.tensor_table import Shape


def detection_postprocess(view: View) -> Outcomes:
    """Boxes, classes, scores and their number: tflite/kernels/detection_postprocess.cc."""
    asked = _options(view, "max_detections", "max_classes_per_detection")
    boxes = asked["max_detections"] * asked["max_classes_per_detection"]
    need(boxes >= 0)
    shapes: tuple[Shape, ...] = ((1, boxes, 4), (1, boxes), (1, boxes), (1,))
    return tuple(Outcome(shape=shape, dtype="float32") for shape in shapes)


def audio_spectrogram(view: View) -> Outcomes:
    """Channels, windows, half the next power of two and one: tflite/kernels/audio_spectrogram.cc."""
    asked = _options(view, "window_size", "stride")
    samples, channels = view.shape(0)
    window, stride = asked["window_size"], asked["stride"]
    need(window >= 2 and stride >= 1)
    windows = 1 + (samples - window) // stride if samples >= window else 0
    return shaped((channels, windows, 1 + (1 << (window - 1).bit_length()) // 2))


def mfcc(view: View) -> Outcomes:
    """As many coefficients as asked for: tflite/kernels/mfcc.cc."""
    count = _options(view, "dct_coefficient_count")["dct_coefficient_count"]
    channels, samples, _ = view.shape(0)
    return shaped((channels, samples, count))


def numeric_verify(view: View) -> Outcomes:
    """As its input, and kept: tflite/kernels/numeric_verify.cc."""
    return (Outcome(shape=view.shape(0), dtype="float32", where="persistent"),)


def hadamard_rotation(view: View) -> Outcomes:
    """As the file says: the kernel does not touch its output's shape, tflite/kernels/hadamard_rotation.cc."""
    return (Outcome(),)


def _options(view: View, *names: str) -> dict[str, int]:
    options = read_options(view.operator.custom_options)
    need(bool(options.named))
    return {name: options.get(name) for name in names}


RULES: dict[str, Rule] = {
    "TFLite_Detection_PostProcess": detection_postprocess,
    "AudioSpectrogram": audio_spectrogram,
    "Mfcc": mfcc,
    "NumericVerify": numeric_verify,
    "aeq.hadamard_rotation": hadamard_rotation,
}
