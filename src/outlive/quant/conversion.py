"""TensorFlow's converter, outside of the caller: what dies, hangs or grows there costs the caller nothing.

source ──► what it is: a file, a Keras model (saved first), a function (sent along)
samples ─► checked against the float model that the same source gives
both ────► worker: TFLiteConverter, its settings by name ──► bytes ──► are they what was asked for?
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from outlive.atomic_files import write_whole
from outlive.errors import ModelError
from outlive.finding import Evidence, Finding, Remedy, Tag
from outlive.interpreter.judge import Call, Judge
from outlive.model import Tensor, read_source
from outlive.names import foreign_lines
from outlive.quant.quantization import Guard
from outlive.quant.samples import Samples
from outlive.quant.worker_functions import convert_source
from outlive.records import NOT_WRITTEN, FileSize, copy_fields, in_document
from outlive.results import Result, file_name
from outlive.units import Step, format_bytes, plural

Signature = Sequence["tuple[Sequence[int | None], str] | str"]
Shapes = Mapping[str, Sequence[int]]
# What only a quantized model needs: left out when the float model is made that samples are held against.
_QUANTIZING = (
    "optimizations", "supported_ops", "supported_types", "inference_input_type", "inference_output_type",
)  # fmt: skip

# Settings that are lists, and so may be words with commas between.
_LISTS = ("optimizations", "supported_ops", "supported_types", "experimental_select_user_tf_ops")
# A type as a word, or as TensorFlow shows it: <dtype: 'uint8'>.
_TYPE = re.compile(r"[a-z]+\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedTensor:
    """An input or output of a converted model; -1 where the size is open."""

    name: str
    index: int
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Converted(Result):
    """A model that TensorFlow's converter made: `.model` is its bytes, `.save(path)` writes them.

    `findings` is what is to be said of it: asked to quantize and got float, for one. `source` is what it was
    made of, in words; `output_path` is where it was written.
    """

    kind: ClassVar[str] = "convert"
    tables = (("inputs", ConvertedTensor), ("outputs", ConvertedTensor))

    source: str = ""
    model: bytes = field(metadata=NOT_WRITTEN)
    output_path: str | None = field(default=None, metadata=NOT_WRITTEN)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    samples: int = 0
    seconds: float = 0.0
    operators: int = 0
    inputs: tuple[ConvertedTensor, ...] = ()
    outputs: tuple[ConvertedTensor, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    @in_document()
    def output(self) -> FileSize:
        """The file that was written."""
        return FileSize(path=self.output_path, file_bytes=self.file_bytes)

    def _summary(self) -> tuple[str, str]:
        """What it was made of, and its size."""
        size = f"{plural(self.operators, 'operator')}, {format_bytes(self.file_bytes)}"
        return file_name(self.source), size

    @property
    def file_bytes(self) -> int:
        """The size of the file."""
        return len(self.model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all."""
        write_whole(path, self.model)


def convert_model(
    source: Any,
    settings: Mapping[str, Any],
    *,
    samples: Any,
    signature: Signature | None,
    guard: Guard,
    judge: Judge,
    tell: Callable[[str], None],
) -> Converted:
    """Convert in a worker; the samples are checked first, against the float model of the same source."""
    with tempfile.TemporaryDirectory(prefix="outlive-convert-") as folder:
        kind, what = _described(source, Path(folder))
        specs = None if signature is None else [_spec(one) for one in signature]
        convert = _in_words(guard(convert_source, plain=bytes), judge)
        if samples is None:
            tell("loading the model and converting it")
            return Converted(model=convert(kind, what, specs, dict(settings), None))
        plain = {name: value for name, value in settings.items() if name not in _QUANTIZING}
        tell("converting to float, to check the samples")
        floating = read_source(convert(kind, what, specs, plain, None)).model
        if floating is None:
            raise ValueError("the converter returned no float model to check the samples against")
        tell("loading the model again")
        with Samples(samples, floating, judge) as feeds:
            made = convert(kind, what, specs, dict(settings), _stream(feeds, tell))
        return Converted(model=made, samples=feeds.count)


def described(made: Converted, source: Any, settings: Mapping[str, Any], seconds: float) -> Converted:
    """The same, with what it was made of and what is in it."""
    model = read_source(made.model).model
    tensors = ((), ()) if model is None else (model.inputs, model.outputs)
    is_file = isinstance(source, (str, os.PathLike))
    named = str(source) if is_file else getattr(source, "__qualname__", None) or type(source).__qualname__
    return replace(
        made,
        source=named,
        settings=dict(settings),
        inputs=tuple(map(_converted_tensor, tensors[0])),
        outputs=tuple(map(_converted_tensor, tensors[1])),
        operators=0 if model is None else sum(1 for _ in model.operators()),
        seconds=seconds,
    )


def _converted_tensor(tensor: Tensor) -> ConvertedTensor:
    return copy_fields(ConvertedTensor, tensor, shape=tensor.shape_signature or tensor.shape)


def parse_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings whose values may be words: `true`, `3`, or a list with commas between."""
    return {name: _setting(name, value) for name, value in given.items()}


def _setting(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if name in _LISTS:
        return [word.strip() for word in value.split(",") if word.strip()]
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    return int(value) if value.isdecimal() else value


def _spec(one: tuple[Sequence[int | None], str] | str) -> tuple[list[int | None], str]:
    """A shape and a type; ValueError for a word that is not like 1x4:float32."""
    if not isinstance(one, str):
        return list(one[0]), one[1]
    shape, _, dtype = one.partition(":")
    sizes = [size for size in shape.split("x") if size]
    if not dtype or not all(size.isdecimal() or size == "?" for size in sizes):
        raise ValueError(f"{one[:60]!r} is not a shape and type; write 1x4:float32, with ? for any size")
    return [None if size == "?" else int(size) for size in sizes], dtype


def convert_with_shapes(source: Any, key: str, shapes: Shapes, guard: Guard, judge: Judge) -> bytes:
    """The float model once more, with other shapes for the inputs of signature `key`, by their names in it.

    ValueError if the model itself does not take them, with its own reason.
    """
    with tempfile.TemporaryDirectory(prefix="outlive-convert-") as folder:
        kind, what = _described(source, Path(folder))
        wanted = (key, {name: list(shape) for name, shape in shapes.items()})
        return _in_words(guard(convert_source, plain=bytes), judge)(kind, what, None, {}, None, wanted)


def _in_words(convert: Callable[..., bytes], judge: Judge) -> Callable[..., bytes]:
    """The same; where the converter gives up, it raises a `ModelError` that says what is missing."""

    def wrapped(*arguments: Any) -> bytes:
        try:
            return convert(*arguments)
        except Exception as error:
            if isinstance(error, ImportError) and "tensorflow" in str(error):
                raise judge.missing("absence", str(error)) from error
            if type(error).__name__ != "ConverterError":
                raise
            words = str(error)
            refusal = judge.refused(Call(problem="converter-refused", text=words))
            # Its pages of words stay in the cause.
            raise ModelError(
                refusal.finding, str(refusal).removeprefix(f"{foreign_lines(words)}\n")
            ) from error

    return wrapped


def expectation(settings: Mapping[str, Any], samples: Any) -> str | None:
    """What these settings ask for, in the words of `check(expect=)`; None if they ask for nothing."""
    types = [str(one).lower() for one in settings.get("supported_types") or ()]
    if any("float16" in one for one in types):
        return "float16"
    ops = " ".join(str(one) for one in settings.get("supported_ops") or ()).upper()
    if samples is None:
        asked = settings.get("optimizations") or any("int" in one for one in types)
        return "dynamic" if asked else None
    width = "int16" if "INT16" in ops else "int8"
    given = str(settings.get("inference_input_type", ""))
    end = next((one for one in ("uint8", "int8", "int16") if one in given), "")
    return f"{end}-io" if end else width


def with_unknown_types(finding: Finding, settings: Mapping[str, Any]) -> Finding:
    """The finding that nothing was quantized, with the types that the converter does not know, if any.

    Of others than these it makes floats, and says nothing: TensorFlow, lite/python/lite.py, QuantizationMode.
    """
    types = [_TYPE.findall(str(one).lower()) for one in settings.get("supported_types") or ()]
    unknown = [name for names in types for name in names if name not in ("float32", "float16", "int8")]
    if not unknown:
        return finding
    fact = Evidence(fact=f"supported_types asks for {', '.join(unknown)}", source="settings")
    advice = Remedy(
        action="leave supported_types out, and give samples of real inputs to quantize values to integers",
        tag=Tag.CHANGES_RESULTS,
        command="converter.target_spec.supported_types = []",
    )
    why = "the converter does not support this type here, and writes floats instead"
    return replace(finding, evidence=(*finding.evidence, fact), why=why, remedies=(advice,))


def _described(source: Any, folder: Path) -> tuple[str, Any]:
    """The arguments for the worker: the kind of source, and a path or a function."""
    if isinstance(source, (str, os.PathLike)):
        named, _, function = os.fspath(source).partition(".py::")
        path = Path(f"{named}.py" if function else named).absolute()
        if not path.exists():
            raise FileNotFoundError(f"nothing to convert at {path}")
        if function:
            return "script", (str(path), function)
        if path.suffix.lower() == ".tflite":
            raise ValueError(f"{path} is already a .tflite file")
        return ("saved-model" if path.is_dir() else "keras"), str(path)
    if hasattr(source, "save") and hasattr(source, "layers"):
        path = folder / "model.keras"
        source.save(path)
        return "keras", str(path)
    if callable(source):
        return "function", source
    raise TypeError(
        "a SavedModel folder, a .keras or .h5 file, a Keras model, or a function that makes or is one can be "
        f"converted; not {type(source).__name__}"
    )


def _stream(samples: Samples, tell: Callable[[str], None]) -> Iterator[list[Any]]:
    for number, feed in enumerate(samples, 1):
        yield list(feed)
        tell(Step(f"calibrating with sample {number}", number, samples.total))
    tell("quantizing")
