"""Builds a candidate's file: waste removed, numbers made smaller, other shapes written into it.

original ─► trim ─► quantize (in a worker) ─► shapes (the runtime says what becomes of the rest) ─► a file
shapes that it does not take, of a model that was converted: converted again ─► trim ─► quantize ─► a file

What a model was converted from, for shapes that its .tflite does not take: it is converted once more.

a shape that is refused ─► TensorFlow in a worker ─► the same inputs and outputs? ─► a file, kept for later
"""

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from outlive.arena.questions import PlanRequest, input_shapes
from outlive.atomic_files import file_digest
from outlive.cache import ResultCache
from outlive.errors import InputError, ModelError, OutliveError
from outlive.fitting.fit_result import Candidate, Inputs, NamedShape, Shape
from outlive.fitting.predictor import SampleSet
from outlive.guarding.guarded import Guarded
from outlive.interpreter.judge import Judge
from outlive.interpreter.prepared_shapes import preparer
from outlive.model import Model, Tensor, read_source
from outlive.planning.planner import for_worker
from outlive.planning.reshaping import cut_part
from outlive.quant.comparison import ModelComparison
from outlive.quant.comparison_plan import CompareTask
from outlive.quant.conversion import convert_with_shapes
from outlive.quant.quantization import QuantizeTask, quantize_model
from outlive.quant.recipes import find_recipe, narrowed, needs_samples
from outlive.quant.tensor_graph import CONVERSIONS
from outlive.surgery import CutRequest, CutTensor, trim
from outlive.units import format_shape

_REFUSED = "refused"
_MOST_REASON_WORDS = 300
Guard = Callable[..., Callable[..., Any]]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A Keras model or a SavedModel, and the model that was converted from it as it is."""

    source: Any = field(repr=False)
    model: Model = field(repr=False)
    judge: Judge = field(repr=False)

    def convert(self, shapes: Sequence[Shape], cache: ResultCache, guard: Guard) -> bytes:
        """The file with these input shapes, in the order of the model's inputs; ValueError if it has none."""
        key = ("converted", self.digest, *shapes)
        content = cache.recall_model(*key) or self._kept(shapes, cache, guard, key)
        problem = preparer(content)({})[1]
        if problem:
            raise ValueError(f"the runtime does not take what TensorFlow makes of it: {problem}")
        return content

    def _kept(
        self, shapes: Sequence[Shape], cache: ResultCache, guard: Guard, key: tuple[object, ...]
    ) -> bytes:
        """Converted, and kept; a refusal as well, but not a death or a limit."""
        reason = cache.recall(_REFUSED, *key).get("reason")
        if isinstance(reason, str):
            raise ValueError(reason)
        try:
            content = self._converted(shapes, guard)
        except (ModelError, ValueError) as error:
            cache.keep({"reason": words_of(error)}, _REFUSED, *key)
            raise
        cache.keep_model(content, *key)
        return content

    @cached_property
    def digest(self) -> str:
        """The source's, by what is in it."""
        digest = hashlib.sha256()
        if not isinstance(self.source, (str, os.PathLike)):
            digest.update(self.source.to_json().encode())
            for value in self.source.get_weights():
                digest.update(f"{value.dtype.str}{value.shape}".encode())
                digest.update(value.tobytes())
            return digest.hexdigest()
        root = Path(self.source)
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file():
                digest.update(f"{path.relative_to(root)}:{file_digest(path)}\n".encode())
        return digest.hexdigest()

    def _converted(self, shapes: Sequence[Shape], guard: Guard) -> bytes:
        key, inputs, _ = ends = _ends(self.model)
        content = convert_with_shapes(
            self.source, key, dict(zip(inputs, shapes, strict=True)), guard, self.judge
        )
        made = read_source(content).model
        if made is None or made.flaws or _ends(made) != ends:
            raise ValueError("converted again, its inputs or outputs are not the same")
        if [tensor.shape for tensor in made.inputs] != [tuple(shape) for shape in shapes]:
            raise ValueError("TensorFlow's converter does not keep these shapes")
        return content


def words_of(error: Exception) -> str:
    """What an error says, in one short line."""
    finding = getattr(error, "finding", None)
    if finding is None:
        return " ".join(str(error).split())[:_MOST_REASON_WORDS]
    facts = ", ".join(item.fact for item in finding.evidence[:1])
    return " ".join(f"{finding.headline}: {facts}".split())[:_MOST_REASON_WORDS]


def _ends(model: Model) -> tuple[str, list[str], list[str]]:
    """The main signature, and what it calls the inputs and outputs, in the model's order."""
    main = model.subgraphs[0]
    for signature in model.signatures:
        inputs = {index: name for name, index in signature.inputs}
        outputs = {index: name for name, index in signature.outputs}
        if signature.subgraph_index == 0 and set(inputs) == set(main.input_indices):
            named = [outputs.get(index, "") for index in main.output_indices]
            return signature.key, [inputs[index] for index in main.input_indices], named
    raise ValueError("the converted model has no signature that names its inputs")


_QUANTIZED = ("int8", "uint8", "int16", "int4", "int2")
_MOST_WORDS = 300
CONVERTED_AGAIN = "converted again by TensorFlow for this shape"
# A part of the file; less is not worth a file of its own.
_LEAST_WASTE = 0.02


class NotBuilt(Exception):
    """A candidate that cannot be built; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A candidate's file, and what is to be said of it."""

    path: str
    model: Model
    notes: tuple[str, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Names and shapes of the inputs."""
        return tuple(NamedShape(tensor.name, tensor.shape) for tensor in self.model.inputs)

    @property
    def outputs(self) -> Inputs:
        """Names and shapes of the outputs."""
        return tuple(NamedShape(tensor.name, tensor.shape) for tensor in self.model.outputs)


@dataclass(slots=True)
class CandidateBuilder:
    """Builds variants of one model, each once; one at a time, because that takes memory and all cores.

    `whole_numbers`: static recipes give integers for inputs and outputs as well, as microcontrollers want.
    `origin` is what the model was converted from, if it was.
    """

    model: Model
    sample_set: SampleSet
    cache: ResultCache
    folder: Path
    whole_numbers: bool = False
    origin: Origin | None = None
    seconds_left: Callable[[], float | None] = lambda: None
    _done: dict[Candidate, Built | NotBuilt] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.RLock)

    def build(self, variant: Candidate) -> Built:
        """The file of a variant; `Refused` if there cannot be one."""
        with self._lock:
            found = self._done.get(variant)
            if found is None:
                try:
                    found = self._built(variant)
                except NotBuilt as error:
                    found = error
                self._done[variant] = found
        if isinstance(found, NotBuilt):
            raise found
        return found

    def waste(self) -> tuple[str, ...]:
        """What can be removed without any change of results, in sentences; none if that is nothing."""
        try:
            return self.build(Candidate(trimmed=True)).notes
        except NotBuilt:
            return ()

    def _built(self, variant: Candidate) -> Built:
        if variant.is_reshaped:
            return self._reshaped(variant)
        if variant.recipe:
            return self._quantized(variant)
        if variant.trimmed:
            return self._trimmed(variant, self.model)
        source = for_worker(self.model)
        if isinstance(source, bytes):
            content, source = source, str(self.folder / "original.tflite")
            Path(source).write_bytes(content)
        return Built(path=source, model=self.model)

    def _trimmed(self, variant: Candidate, model: Model, notes: tuple[str, ...] = ()) -> Built:
        trimmed = trim(model)
        if trimmed.saved_bytes < _LEAST_WASTE * model.file_bytes:
            raise NotBuilt("no waste worth removing")
        return self._stored(variant, trimmed.data, (*notes, *trimmed.removed))

    def _stored(self, variant: Candidate, content: bytes, notes: tuple[str, ...] = ()) -> Built:
        path = self.folder / f"candidate-{len(self._done)}.tflite"
        path.write_bytes(content)
        model = read_source(str(path)).model
        if model is None or model.flaws:
            raise NotBuilt("the new file cannot be read")
        return Built(path=str(path), model=model, notes=notes)

    def _quantized(self, variant: Candidate) -> Built:
        base = self._base(replace(variant, recipe="", kept=()))
        if is_quantized(base.model):
            raise NotBuilt("it is already quantized")
        name, rows = find_recipe(variant.recipe)
        measures = needs_samples(rows)
        whole_numbers = self.whole_numbers and measures
        key = (base.model.sha256, name, *variant.kept, self.whole_numbers)
        key = (*key, self.sample_set.digest) if measures else key
        content = self.cache.recall_model(*key)
        if not content:
            content = self._quantize(base.model, variant, "int8" if whole_numbers else "float")
            self.cache.keep_model(content, *key)
        notes = ("inputs and outputs are whole numbers",) if whole_numbers else ()
        return self._stored(variant, content, (*base.notes, *notes) if variant.is_reshaped else notes)

    def _base(self, variant: Candidate) -> Built:
        """The file without what is done to it next; a model without waste is as it is."""
        try:
            return self.build(variant)
        except NotBuilt:
            if not variant.trimmed:
                raise
            return self.build(replace(variant, trimmed=False))

    def _quantize(self, model: Model, variant: Candidate, io: str) -> bytes:
        name, rows = find_recipe(variant.recipe)
        samples = self.sample_set.for_quantizer(model) if needs_samples(rows) else None
        if needs_samples(rows) and samples is None:
            raise NotBuilt(f"needs samples: {self.sample_set.problem}")
        try:
            recipe = narrowed(rows, model, variant.kept, (), io)
            order = QuantizeTask(
                model=model, name=name, recipe=recipe, judge=self.sample_set.judge, skip=variant.kept
            )
            made = quantize_model(order, samples, self._guard, lambda _: None)
        except InputError as error:
            if variant.is_reshaped:  # the samples are good; they were made for the original's shapes
                raise NotBuilt(words_of(error)) from error
            raise
        except (OutliveError, ValueError) as error:
            raise NotBuilt(words_of(error)) from error
        finally:
            if samples is not None:
                samples.close()
        if made.refusal:
            raise NotBuilt(f"the runtime refuses what the quantizer makes: {made.refusal}")
        if not made.quantized_layers or made.model == bytes(model.content):
            raise NotBuilt("none of its operators can be quantized this way")
        return made.model

    def _guard(self, function: Callable[..., Any], *, plain: Any) -> Callable[..., Any]:
        judge, seconds = self.sample_set.judge, self.seconds_left()
        return Guarded(_without_log(function), judge=judge, seconds=seconds, quiet=True, plain=plain)

    def _reshaped(self, variant: Candidate) -> Built:
        base = self._base(replace(variant, batch=None, inputs=()))
        shapes = self._shapes(base.model, variant)
        if not shapes:
            raise NotBuilt("it already has these shapes")
        try:
            return self._rewritten(variant, base, shapes)
        except NotBuilt as error:
            if self.origin is None:
                raise
            return self._converted_again(variant, self.origin, str(error))

    def _rewritten(self, variant: Candidate, base: Built, shapes: dict[str | int, Shape]) -> Built:
        """The file with other shapes in it, as the runtime works them out."""
        try:
            part = cut_part(base.model, CutRequest(input_shapes=shapes))
        except (OutliveError, ValueError) as error:
            raise NotBuilt(words_of(error)) from error
        if part.shapes_from != "runtime":
            said = "; ".join(part.state).rpartition("are the file's: ")[2]
            raise NotBuilt(f"the runtime rejects these shapes: {said}"[:_MOST_WORDS])
        changes = _changes(base.model, part.outputs, variant.batch)
        return self._stored(variant, part.model, (*base.notes, *changes))

    def _converted_again(self, variant: Candidate, origin: Origin, refusal: str) -> Built:
        """What the file cannot be changed to, made from the model it was converted from."""
        if variant.recipe:
            return self._quantized(variant)
        if variant.trimmed:
            plain = self.build(replace(variant, trimmed=False))
            return self._trimmed(variant, plain.model, plain.notes)
        wanted = self._shapes(self.model, variant)
        shapes = [wanted.get(tensor.index, tensor.shape) for tensor in self.model.inputs]
        try:
            content = origin.convert(shapes, self.cache, self._guard)
        except (OutliveError, ValueError) as error:
            raise NotBuilt(f"{words_of(error)}; nor does its .tflite: {refusal}") from error
        built = self._stored(variant, content, (CONVERTED_AGAIN,))
        changes = _changes(self.model, built.model.outputs, variant.batch)
        return replace(built, notes=(*built.notes, *changes))

    def _shapes(self, model: Model, variant: Candidate) -> dict[str | int, Shape]:
        """New shapes by tensor of the base; names are the original's, and the base has its order."""
        places = {tensor.name: place for place, tensor in enumerate(self.model.inputs)}
        named = {model.inputs[places[name]].name: shape for name, shape in variant.inputs}
        try:
            wanted = input_shapes(model, PlanRequest(inputs=named, batch=variant.batch))
        except ValueError as error:
            raise NotBuilt(str(error)) from error
        return dict(wanted.items())

    def worst_layers(self, variant: Candidate) -> tuple[str, ...]:
        """Layers of the float model, those first in which a quantized one makes most error."""
        base = self._base(replace(variant, recipe="", kept=(), batch=None, inputs=()))
        made = self.build(replace(variant, batch=None, inputs=()))
        key = ("worst", base.model.sha256, made.model.sha256, self.sample_set.digest)
        known = self.cache.recall(*key).get("layers")
        if isinstance(known, list):
            return tuple(map(str, known))
        layers = self._compared(base, made)
        self.cache.keep({"layers": list(layers)}, *key)
        return layers

    def _compared(self, base: Built, made: Built) -> tuple[str, ...]:
        samples = self.sample_set.for_quantizer()
        if samples is None:
            return ()
        task = CompareTask(reference=base.model, candidate=made.model, judge=self.sample_set.judge)
        try:
            with samples:
                drift = ModelComparison(task).run(samples)
        except (OutliveError, ValueError):
            return ()
        rows = drift.worst(len(drift.tensors))
        names = (row.reference_name for row in rows if row.op_type not in ("INPUT", *CONVERSIONS))
        return tuple(dict.fromkeys(name for name in names if name))


def is_quantized(model: Model) -> bool:
    """True if most operators of a model give quantized integers already."""
    main = model.subgraphs[0]
    made = [main.tensors[index] for step in main.operators for index in step.outputs]
    real = sum(tensor.dtype.startswith("float") for tensor in made)
    scaled = [tensor for tensor in made if tensor.quantization is not None and tensor.quantization.scales]
    return sum(tensor.dtype in _QUANTIZED for tensor in scaled) > real


def _changes(model: Model, outputs: Sequence[Tensor | CutTensor], batch: int | None) -> tuple[str, ...]:
    """What new inputs make of the outputs; `Refused` if they would no longer mean the same."""
    first = next((tensor.shape[0] for tensor in model.inputs if tensor.shape), 1)
    notes = []
    for before, after in zip(model.outputs, outputs, strict=False):
        if before.shape == after.shape or not before.shape or not after.shape:
            continue
        follows = batch is not None and before.shape[0] == first
        wanted = batch if follows else before.shape[0]
        shapes = f"{format_shape(after.shape)} instead of {format_shape(before.shape)}"
        name = f"output {before.name[:80]!r}"
        if len(before.shape) != len(after.shape) or after.shape[0] != wanted:
            raise NotBuilt(f"{name} would become {shapes}: its meaning would change")
        if after.shape[1:] != before.shape[1:]:
            notes.append(f"{name} becomes {shapes}")
    return tuple(notes)


def _without_log(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without the quantizer's warnings, which a dozen candidates would repeat."""

    def run(*arguments: Any) -> Any:
        import logging

        logging.disable(logging.WARNING)
        try:
            return function(*arguments)
        finally:
            logging.disable(logging.NOTSET)

    return run
