"""A model as source code for a microcontroller: the array, its operators, its arena, a main that runs it.

Model + Plan ──> Export: model_data.h, model_data.cc, model_ops.h, main.cc, README.md
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from outlive.arena.budget import ArenaSize, Verdict, arena_for
from outlive.arena.plan import Plan, Word
from outlive.atomic_files import whole_file
from outlive.exporting.ports import ModelInterface, Port, identifier, is_namespace, layout_of, render
from outlive.exporting.snippets import ELEMENT_TYPES
from outlive.finding import Finding
from outlive.kernels.tables import read_table
from outlive.model import Model
from outlive.records import NOT_WRITTEN, ModelFile, in_document, written
from outlive.results import Result, file_name
from outlive.units import plural

FILES = ("model_data.h", "model_data.cc", "model_ops.h", "main.cc", "README.md")
_TYPES = frozenset(
    {"float32", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"}
)
# No microcontroller has more flash than this, and its array would be five times as long as text.
_MOST_MODEL_BYTES = 64 * 2**20
_BYTES_A_LINE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Adder:
    """A function of MicroMutableOpResolver, the operator it registers, and how often the model has that."""

    operator: str = field(metadata=written("type"))
    function: str
    count: int


class ExportedFile(NamedTuple):
    """A file that was written."""

    name: str
    file_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Export(Result):
    """The files by name, and what they were made of."""

    kind: ClassVar[str] = "export"

    path: str | None = None  # the folder that they were written to
    name: str = field(metadata=written("namespace"))
    files: tuple[tuple[str, str], ...] = field(repr=False)
    layout: ModelInterface = field(metadata=NOT_WRITTEN)
    arena: ArenaSize = field(metadata=written(flat=True))
    model_bytes: int
    adders: tuple[Adder, ...] = field(metadata=written("operators"))
    plan: Plan = field(repr=False, metadata=NOT_WRITTEN)
    verdict: Verdict | None = None
    removed: tuple[str, ...] = ()  # what was left out of the model
    findings: tuple[Finding, ...] = ()

    def _summary(self) -> tuple[str, str]:
        """The files."""
        return plural(len(self.files), "file"), ", ".join(name for name, _ in self.files)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write every file before any takes its place: a full disk or Ctrl-C leaves what was there."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            for name, text in self.files:
                file = opened.enter_context(whole_file(Path(folder) / name))
                file.write(text.encode())
                file.flush()

    @property
    @in_document()
    def model(self) -> ModelFile:
        """The model that was exported."""
        return self.plan.model

    @property
    @in_document("files")
    def file_sizes(self) -> tuple[ExportedFile, ...]:
        """The files and their sizes."""
        return tuple(ExportedFile(name, len(text.encode())) for name, text in self.files)

    @property
    @in_document()
    def exact(self) -> bool:
        """True if every size of the plan is computed by the runtime's own rules."""
        return self.plan.exact

    @property
    @in_document()
    def unknown(self) -> tuple[str, ...]:
        """What the plan does not know."""
        return self.plan.unknown

    @property
    @in_document()
    def assumed(self) -> tuple[str, ...]:
        """What the plan takes for granted."""
        return self.plan.assumed

    @property
    @in_document("verdict")
    def word(self) -> Word | None:
        """Whether it fits the device, in a word."""
        return None if self.verdict is None else self.verdict.word

    @property
    @in_document()
    def device(self) -> str | None:
        """The device that it was held against."""
        return None if self.verdict is None else self.verdict.budget.title

    @property
    @in_document()
    def inputs(self) -> tuple[Port, ...]:
        """What to feed."""
        return self.layout.inputs

    @property
    @in_document()
    def outputs(self) -> tuple[Port, ...]:
        """What it gives."""
        return self.layout.outputs


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NotExported(Result):
    """Why nothing was written."""

    kind: ClassVar[str] = "export"

    path: str | None
    files: tuple[str, ...] = ()
    findings: tuple[Finding, ...]
    verdict: Verdict | None = field(default=None, metadata=NOT_WRITTEN)

    def _summary(self) -> tuple[str, str]:
        """The model, and what is wrong."""
        return file_name(self.path), self.outcome

    @property
    def outcome(self) -> str:
        """What it comes to: "does not fit", or "errors" if it cannot run there."""
        too_big = self.verdict is not None and self.verdict.word == "does not fit"
        return "does not fit" if too_big else "errors"


def export_micro(
    model: Model,
    plan: Plan,
    *,
    abi: str = "cortex-m",
    kernels: str = "reference",
    margin: str | None = None,
    name: str | None = None,
    verdict: Verdict | None = None,
) -> Export:
    """The source files for a model that TensorFlow Lite Micro takes, by its plan for this ABI and kernels.

    `margin` is added to the planned arena: a share such as "10%" or a size such as "2KB". ValueError for what
    cannot be written down.
    """
    arena = arena_for(model, plan, abi, margin)
    if arena is None:
        raise ValueError("TensorFlow Lite Micro refuses this model, so it has no arena")
    if model.file_bytes > _MOST_MODEL_BYTES:
        raise ValueError(f"the model has {model.file_bytes:,} bytes: too many for an array in source code")
    layout = layout_of(model) if len(model.signatures) < 2 else layout_of(_unsigned(model))
    _check_types(layout)
    called = _namespace(model, name)
    adders = _adders_of(model)
    _check_margin(arena, verdict)
    values = _values(model, plan, layout, arena, adders)
    values |= {
        "name": called,
        "guard": f"OUTLIVE_{called.upper()}",
        "abi": abi,
        "kernels": kernels,
        "device": verdict.budget.device if verdict is not None else None,
        "verdict": verdict,
    }
    files = []
    for file in FILES:
        array = {"array": "\n".join(_array_lines(model.content))} if file == "model_data.cc" else {}
        files.append((file, render(f"tflm/{file}.j2", **values, **array)))
    return Export(
        name=called,
        files=tuple(files),
        layout=layout,
        adders=adders,
        plan=plan,
        verdict=verdict,
        arena=arena,
        model_bytes=model.file_bytes,
    )


def _unsigned(model: Model) -> Model:
    """The model without its signatures: Micro knows the main subgraph only."""
    return replace(model, signatures=())


def _check_types(layout: ModelInterface) -> None:
    for port in (*layout.inputs, *layout.outputs):
        if port.dtype not in _TYPES:
            what = f"tensor #{port.index} {port.name.text[:80]!r}"
            raise ValueError(f"{what} is {port.dtype}: a program for Micro cannot set or read that")


def _namespace(model: Model, name: str | None) -> str:
    if name is None:
        stem = layout_of(_unsigned(model)).file.text.removesuffix(".tflite")
        # With a prefix it is no word of C++, and nothing that its headers declare: sin, free, round.
        return f"model_{identifier(stem, 'file').removeprefix('model_')}"
    if not is_namespace(name):
        raise ValueError(
            f"{name[:80]!r} cannot be the name of a namespace: use small letters, digits and underscores, "
            "and no word of C++ or of its headers"
        )
    return name


def _check_margin(arena: ArenaSize, verdict: Verdict | None) -> None:
    if verdict is not None and verdict.fits and arena.bytes > verdict.budget.ram_bytes:
        there = f"{verdict.budget.title} has {verdict.budget.ram_bytes:,} bytes of RAM"
        raise ValueError(
            f"{there}: the planned arena fits, but not with its margin, {arena.bytes:,}; try --margin 0%"
        )


def _values(
    model: Model, plan: Plan, layout: ModelInterface, arena: ArenaSize, adders: tuple[Adder, ...]
) -> dict[str, object]:
    return {
        "layout": layout,
        "kinds": ELEMENT_TYPES,
        "adders": adders,
        "file_bytes": model.file_bytes,
        "sha256": model.sha256,
        "commit": str(read_table("tflm")["tflm_commit"])[:12],
        "exact": plan.exact,
        "assumed": plan.assumed,
        "unknown": plan.unknown,
        "planned_bytes": arena.planned_bytes,
        "variables": arena.variables,
        "variable_bytes": arena.variable_bytes,
        "margin_bytes": arena.margin_bytes,
        "margin_words": arena.margin_words,
        "arena_bytes": arena.bytes,
        "quantized": any(port.scale is not None for port in layout.inputs),
        "dequantized": any(port.scale is not None and port.count for port in layout.outputs),
        "reruns": bool(arena.variables) or any(tensor.is_variable for tensor in model.tensors()),
    }


def _array_lines(content: memoryview) -> Iterator[str]:
    words = [f"0x{byte:02x}, " for byte in range(256)]
    for at in range(0, len(content), _BYTES_A_LINE):
        line = "".join(words[byte] for byte in content[at : at + _BYTES_A_LINE].tolist())
        yield "  " + line[:-1]


def _adders_of(model: Model) -> tuple[Adder, ...]:
    """The functions a model needs, by name. ValueError for operators that there is none for."""
    table = read_table("tflm")
    counts = Counter((op.is_custom, op.custom_name if op.is_custom else op.type) for op in model.operators())
    found, missing = [], []
    for (is_custom, name), count in counts.items():
        row = table["custom" if is_custom else "builtin"].get(name)
        if row is None:
            missing.append(name[:80])
        else:
            found.append(Adder(function=row["add"], operator=name, count=count))
    if missing:
        raise ValueError(f"TensorFlow Lite Micro has no kernel for {', '.join(sorted(missing)[:5])}")
    return tuple(sorted(found, key=lambda adder: adder.function))
