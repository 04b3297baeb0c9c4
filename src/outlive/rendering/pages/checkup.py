"""The page of `outlive MODEL`: what is in the file, what is wrong with it, and whether it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from outlive.diagnosis.examination import Examination
from outlive.finding import Severity
from outlive.model import Model, Tensor
from outlive.names import safe
from outlive.rendering import page as ui
from outlive.rendering.pages.diagnose import diagnosis_section
from outlive.rendering.pages.report import report_verdict
from outlive.units import format_bytes, format_shape, plural

_NAME = 48
_SHOWN_ENDS = 4


def page(seen: Examination) -> ui.Page:
    """Everything on one screen; a report has the rest."""
    return ui.make_page("checkup", seen.path or None, report_verdict(seen), (), _sections(seen))


def _sections(seen: Examination) -> Iterator[ui.Section]:
    model = seen.checked.reading.model
    if model is not None:
        yield ui.Section("model", "Model", (ui.Listing(tuple(_facts(model))),))
    if seen.diagnosis is not None and seen.ended_badly:
        yield diagnosis_section(seen.diagnosis)
    noted = all(item.severity is Severity.NOTE for item in seen.findings)
    for section in ui.findings_sections(seen.findings):
        # Why it dies comes first; what is only noted can wait.
        yield replace(section, detail=1 if seen.ended_badly and noted else 0)


def _facts(model: Model) -> Iterator[str]:
    operators = sum(1 for _ in model.operators())
    parts = (plural(operators, "operator"), plural(len(model.subgraphs), "subgraph"))
    yield ", ".join((format_bytes(model.file_bytes), *parts))
    yield f"inputs: {_ends(model.inputs)}"
    yield f"outputs: {_ends(model.outputs)}"


def _ends(tensors: Sequence[Tensor]) -> str:
    listed = [
        f"{safe(one.name, _NAME)} {format_shape(one.shape)} {one.dtype}" for one in tensors[:_SHOWN_ENDS]
    ]
    more = f", and {len(tensors) - _SHOWN_ENDS} more" if len(tensors) > _SHOWN_ENDS else ""
    return f"{', '.join(listed) or 'none'}{more}"
