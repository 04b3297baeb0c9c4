"""Custom operators TFLM ships: detection post-processing, circular buffer, decoding of packed weights.

Sources: detection_postprocess.cc, circular_buffer.cc, circular_buffer_common.cc, decode.cc and
decode_state*.cc of tensorflow/lite/micro/kernels.
"""

from outlive.kernels.flexbuffers import read_options
from outlive.kernels.tflm.checks import at
from outlive.kernels.tflm.context import MicroContext, MicroKernel, MicroTensor

# Decoders by the type byte of the ancillary tensor: decode_state.h.
_DECODERS = {0: "DecodeStateLut", 1: "DecodeStateHuffman", 2: "DecodeStatePrune"}


def detection_postprocess(k: MicroContext) -> None:
    """TFLite_Detection_PostProcess: 11 scratch buffers, most as large as boxes times detections."""
    options = read_options(k.operator.custom_options)
    k.counts(3, None)
    boxes, scores, anchors = k.input(0), k.input(1), k.input(2)
    k.require(
        boxes.rank == scores.rank == 3 and anchors.rank == 2, "its inputs have not 3, 3 and 2 dimensions"
    )
    k.require(len(k.operator.outputs) == 4, "it has not 4 outputs")
    n = boxes.dims[1]
    detections, classes = options.get("max_detections"), options.get("num_classes")
    k.scratch(n)
    k.scratch(16 * n)
    k.scratch(4 * scores.dims[1] * scores.dims[2])
    k.scratch(4 * n)
    k.scratch(4 * n)
    k.scratch(4 * detections * n)
    k.scratch(4 * detections * n)
    k.scratch(4 * n)
    k.scratch(4 * detections * n)
    k.scratch(4 * max(classes, detections) * n)
    k.scratch(4 * min(n, detections) * n)


def circular_buffer(k: MicroContext) -> None:
    """CIRCULAR_BUFFER."""
    input, output = k.input(0), k.output()
    same = all(at(k, input, axis) == at(k, output, axis) for axis in (0, 2, 3))
    k.require(same and at(k, input, 1) == 1, "its output is not a row of its inputs")
    k.same_type(input, output)
    k.one_of(input, "input", "int8")


def decode(k: MicroContext) -> None:
    """TFLM_DECODE: a decoder in the tail for each tensor it unpacks."""
    outputs = len(k.operator.outputs)
    k.require(outputs > 0 and len(k.operator.inputs) == 2 * outputs, "it has not two inputs for each output")
    k.keep(outputs * k.shared.abi.pointer_bytes)
    for which in range(outputs):
        packed, ancillary, output = k.input(2 * which), k.input(2 * which + 1), k.output(which)
        k.require(packed.constant and ancillary.constant, "its packed weights are not constants")
        buffer = ancillary.tensor.buffer
        header = b"" if buffer is None else bytes(buffer.part(0, 16))
        k.require(len(header) == 16 and header[1] == header[4] == 1, "it is packed in a version other than 1")
        decoder = _DECODERS.get(header[0])
        if decoder is None:
            k.refuse(f"weights packed by method {header[0]} are not supported")
        k.keep_struct(decoder)
        # Tables of 16 bits hold int8 alone.
        wide = decoder != "DecodeStateHuffman" or header[5] & 1
        k.require(bool(wide) or output.type == "int8", f"{output.type} from tables of 16 bits")
        _decoder_state(k, decoder, output)


def _decoder_state(k: MicroContext, decoder: str, output: MicroTensor) -> None:
    if decoder == "DecodeStateHuffman" or not output.quantized:
        return
    channels = len(output.scales)
    last = output.axis == output.rank - 1 and channels > 1
    k.require(last or output.axis == 0, f"weights quantized along axis {output.axis} cannot be unpacked")
    if decoder == "DecodeStatePrune" and any(output.zero_points):
        k.require(output.type == "int8", "its zero points are not 0")
        if channels > 1:
            k.keep(channels)


KERNELS = {
    "CIRCULAR_BUFFER": MicroKernel(circular_buffer),
    "TFLM_DECODE": MicroKernel(decode),
    "TFLite_Detection_PostProcess": MicroKernel(detection_postprocess),
}
