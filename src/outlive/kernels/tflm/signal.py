"""Audio front end: the Signal* custom operators.

Sources: signal/micro/kernels/*.cc and signal/src/*.cc of tensorflow/tflite-micro; kissfft v130.
"""

from outlive.kernels.flexbuffers import read_options
from outlive.kernels.tflm.abi import size_of
from outlive.kernels.tflm.context import MicroContext, MicroKernel, Step

_FFT_TYPES = {0: "float32", 2: "int32", 7: "int16"}  # the schema's TensorType numbers
_SCALAR_BYTES = {"float32": 4, "int32": 4, "int16": 2}
_KISS_STATE_WORDS = 2 + 2 * 32  # length, direction, factors: _kiss_fft_guts.h
# A frame count that is no sane model's: each frame's buffers are taken one by one.
_MOST_BUFFERS = 100_000


def _typed(inputs: str, outputs: str, ranks: str) -> Step:
    """A Prepare that looks at all tensors and checks their types and ranks (* is any)."""
    kinds_in, kinds_out = inputs.split(), outputs.split()
    wanted = [None if rank == "*" else int(rank) for rank in ranks.split()]

    def prepare(k: MicroContext) -> None:
        k.counts(len(kinds_in), len(kinds_out))
        tensors = [k.input(place) for place in range(len(kinds_in))]
        tensors += [k.output(place) for place in range(len(kinds_out))]
        for tensor, kind, rank in zip(tensors, kinds_in + kinds_out, wanted, strict=True):
            k.one_of(tensor, "a tensor", kind)
            k.require(
                rank is None or tensor.rank == rank, f"a tensor has {tensor.rank} dimensions, not {rank}"
            )

    return prepare


energy = _typed("int16", "uint32", "1 1")
fft_auto_scale = _typed("int16", "int16 int32", "1 1 0")
filter_bank = _typed("uint32 int16 int16 int16 int16 int16", "uint64", "1 1 1 1 1 1 1")
filter_bank_log = _typed("uint32", "int16", "1 1")
filter_bank_square_root = _typed("uint64 int32", "uint32", "1 0 1")
spectral_subtraction = _typed("uint32", "uint32 uint32", "1 1 1")
pcan = _typed("uint32 uint32 int16", "uint32", "1 1 1 1")
stacker = _typed("int16", "int16 bool", "1 1 0")
_window_types = _typed("int16 int16", "int16", "* 1 *")


def window(k: MicroContext) -> None:
    """SignalWindow."""
    _window_types(k)
    ranks = [len(k.tensor(index).dims) for index in (k.operator.inputs[0], k.operator.outputs[0])]
    k.require(ranks[0] == ranks[1] >= 1, "input and output differ in rank, or are scalars")


def delay(k: MicroContext) -> None:
    """SignalDelay: a ring buffer for each row."""
    length = read_options(k.operator.custom_options).at(0)
    k.counts(1)
    input, output = k.input(0), k.output()
    k.one_of(input, "input", "int16")
    k.one_of(output, "output", "int16")
    k.require(input.rank >= 1 and input.dims[-1] > 0, "its input is a scalar or empty")
    _rings(k, input.elements // input.dims[-1], input.dims[-1] + length)


def framer(k: MicroContext) -> None:
    """SignalFramer: a ring buffer for each row."""
    options = read_options(k.operator.custom_options)
    size, step = options.at(0), options.at(1)
    k.counts(1, 2)
    input, output, valid = k.input(0), k.output(), k.output(1)
    k.require(input.rank + 1 == output.rank and valid.rank == 0, "its output has not one dimension more")
    for tensor, kind in ((input, "int16"), (output, "int16"), (valid, "bool")):
        k.one_of(tensor, "a tensor", kind)
    k.require(input.rank >= 1 and step > 0, "its input is a scalar, or its frame step 0")
    inner = input.dims[-1]
    k.require(inner >= step and inner % step == 0, f"its input is not made of steps of {step}")
    _rings(k, input.elements // inner, -(-size // step) * step)


def _rings(k: MicroContext, rows: int, capacity: int) -> None:
    k.require(rows <= _MOST_BUFFERS, f"it keeps a state for each of {rows} rows")
    k.keep(rows * k.shared.abi.pointer_bytes)
    k.keep(rows * k.shared.abi.pointer_bytes)
    for _ in range(rows):
        k.keep(_ring_bytes(k, capacity))


def _ring_bytes(k: MicroContext, capacity: int) -> int:
    # CircularBufferGetNeededMemory: signal/src/circular_buffer.cc
    return size_of("CircularBuffer", k.shared.abi) + 4 * capacity


def overlap_add(k: MicroContext) -> None:
    """SignalOverlapAdd: a frame for each row."""
    kind = _FFT_TYPES.get(read_options(k.operator.custom_options).get("T"))
    k.counts(1)
    input, output = k.input(0), k.output()
    if kind not in ("int16", "float32"):
        k.refuse("its type is neither int16 nor float32")
    k.require(input.rank == output.rank + 1 >= 2, "its input has not one dimension more than its output")
    k.one_of(input, "input", kind)
    k.one_of(output, "output", kind)
    frame, frames = input.dims[-1], input.dims[-2]
    k.require(frame * frames > 0, "its input is empty")
    rows = input.elements // (frame * frames)
    k.require(rows <= _MOST_BUFFERS, f"it keeps a state for each of {rows} rows")
    k.keep(rows * k.shared.abi.pointer_bytes)
    for _ in range(rows):
        k.keep(frame * _SCALAR_BYTES[kind])


def rfft(k: MicroContext) -> None:
    """SignalRfft: a scratch buffer of the transform's length."""
    kind, length = _fft(k)
    k.scratch(length * _SCALAR_BYTES[kind])


def irfft(k: MicroContext) -> None:
    """SignalIrfft."""
    _fft(k)


def _fft(k: MicroContext) -> tuple[str, int]:
    options = read_options(k.operator.custom_options)
    kind = _FFT_TYPES.get(options.get("T"))
    if kind is None:
        k.refuse("its type is not int16, int32 or float32")
    k.counts(1)
    input, output = k.input(0), k.output()
    k.require(input.rank == output.rank >= 1, "input and output differ in rank")
    k.one_of(input, "input", kind)
    k.one_of(output, "output", kind)
    return kind, options.at(1)


def init_filter_bank(k: MicroContext) -> None:
    """SignalFilterBank: its work area."""
    k.keep_struct("TFLMSignalFilterBankParams")
    k.keep(8 * (read_options(k.operator.custom_options).at(0) + 1))


def init_spectral_subtraction(k: MicroContext) -> None:
    """SignalFilterBankSpectralSubtraction: its noise estimate."""
    k.keep_struct("TFLMSignalSpectralSubtractionParams")
    k.keep(4 * read_options(k.operator.custom_options).at(4))


def init_stacker(k: MicroContext) -> None:
    """SignalStacker: its ring buffer."""
    options = read_options(k.operator.custom_options)
    k.keep_struct("TFLMSignalStackerParams")
    k.keep(_ring_bytes(k, options.at(0) * (options.at(1) + options.at(2) + 1)))


def init_rfft(k: MicroContext) -> None:
    """SignalRfft: kissfft's state."""
    _init_fft(k, "TfLiteAudioFrontendRfftParams")


def init_irfft(k: MicroContext) -> None:
    """SignalIrfft: kissfft's state, and in float the length beside it."""
    _init_fft(k, "TfLiteAudioFrontendIrfftParams", size_of("IrfftFloatState", k.shared.abi))


def _init_fft(k: MicroContext, struct: str, float_bytes: int = 0) -> None:
    options = read_options(k.operator.custom_options)
    kind = _FFT_TYPES.get(options.get("T"))
    if kind is None:
        return  # Init gives nothing; Prepare refuses
    k.keep_struct(struct)
    extra = float_bytes if kind == "float32" else 0
    k.keep(_kiss_bytes(k, options.at(1), 2 * _SCALAR_BYTES[kind]) + extra)


def _kiss_bytes(k: MicroContext, length: int, complex_bytes: int) -> int:
    # kiss_fftr_alloc: kissfft v130, tools/kiss_fftr.c; an odd length leaves the size at 0.
    if length & 1 or length <= 0:
        return 0
    half = length // 2
    state = 4 * _KISS_STATE_WORDS + complex_bytes * half
    return 3 * k.shared.abi.pointer_bytes + state + complex_bytes * (half * 3 // 2)


KERNELS = {
    "SignalDelay": MicroKernel(delay),
    "SignalEnergy": MicroKernel(energy),
    "SignalFftAutoScale": MicroKernel(fft_auto_scale),
    "SignalFilterBank": MicroKernel(filter_bank, init=init_filter_bank),
    "SignalFilterBankLog": MicroKernel(filter_bank_log),
    "SignalFilterBankSpectralSubtraction": MicroKernel(spectral_subtraction, init=init_spectral_subtraction),
    "SignalFilterBankSquareRoot": MicroKernel(filter_bank_square_root),
    "SignalFramer": MicroKernel(framer),
    "SignalIrfft": MicroKernel(irfft, init=init_irfft),
    "SignalOverlapAdd": MicroKernel(overlap_add),
    "SignalPCAN": MicroKernel(pcan),
    "SignalRfft": MicroKernel(rfft, init=init_rfft),
    "SignalStacker": MicroKernel(stacker, init=init_stacker),
    "SignalWindow": MicroKernel(window),
}
