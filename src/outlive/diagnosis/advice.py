"""Advice that holds: without what the same answer rules out, and without what the model cannot do. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from outlive.finding import Remedy
from outlive.model import Model

# By the trial that has failed, what is no way out any more.
_TRIED = {
    "without delegates": r"--accelerator builtin|BUILTIN_WITHOUT_DEFAULT_DELEGATES|"
    r"without (?:the )?(?:XNNPACK|default delegates?|delegates)\b",
    "reference kernels": r"--accelerator reference|BUILTIN_REF\b|reference kernels",
    "one thread": r"num_threads=1\b|--threads 1\b|one thread\b",
    "from bytes": r"model_content=",
    "more memory": r"\bmore memory\b|larger (?:memory )?limit",
}
_RESIZE = (
    r"\b(?:call|use|first)\b[^;,]*(?:resize_tensor_input|[Rr]esizeInput)|\bresize (?:it|the input) first"
)
_NEWER_RUNTIME = r"--upgrade\b|newer (?:version of the )?runtime|[Uu]pdate the runtime|newer TensorFlow Lite"
# Rules on operators that TensorFlow Lite Micro does not have: no newer LiteRT gives it one.
_OF_MICRO = ("O301", "O302")
# Where one piece of advice ends and the next begins.
_OR = re.compile(r"(?:,? or |; )(?=[a-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLimits:
    """What advice must heed: trials that ended as badly, whether shapes are fixed, the rule that answers."""

    failed: tuple[str, ...] = ()
    fixed_shapes: bool = False
    code: str = ""

    def forbids(self, words: str) -> bool:
        """True if following these words cannot help."""
        closed = [_TRIED[name] for name in self.failed if name in _TRIED]
        if self.fixed_shapes:
            closed.append(_RESIZE)
        if self.code in _OF_MICRO:
            closed.append(_NEWER_RUNTIME)
        return any(re.search(pattern, words) for pattern in closed)


def has_fixed_shapes(model: Model | None) -> bool:
    """True if no input of the model has a dimension that the file leaves open."""
    if model is None or not model.inputs:
        return False
    return not any(tensor.is_dynamic for tensor in model.inputs)


def steps_that_hold(steps: Iterable[str], known: KnownLimits) -> tuple[str, ...]:
    """The steps without those parts that are ruled out."""
    return tuple(filter(None, (_holding(step, known) for step in steps)))


def remedies_that_hold(remedies: Sequence[Remedy], known: KnownLimits) -> tuple[Remedy, ...]:
    """The remedies without those that are ruled out; of an action, the part that is left."""
    kept = (item for item in remedies if not known.forbids(item.command))
    held = (replace(item, action=_holding(item.action, known)) for item in kept)
    return tuple(item for item in held if item.action)


def _holding(step: str, known: KnownLimits) -> str:
    if not known.forbids(step):
        return step
    parts = [part for part in _OR.split(step) if not known.forbids(part)]
    return ", or ".join(parts)
