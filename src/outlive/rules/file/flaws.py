"""What rules on files share: findings on flaws that the reader noted, and on files that are no model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from outlive.finding import Evidence, Fault, Remedy, Sighting, Tag
from outlive.model import FlawKind, Model, Reading
from outlive.rules.wording import file_name
from outlive.units import plural

UPDATE_OR_FETCH = Remedy(
    "update outlive and the runtime if the converter is newer; otherwise download the file again",
    Tag.SAME_RESULTS,
)
FETCH_OR_CONVERT = Remedy("download or convert the model again", Tag.SAME_RESULTS)
# A finding names a few examples; the JSON of `outlive read` has all of them.
_SHOWN = 5
# In a file that ends early, lists that could not be read leave references to nothing: one cause, one finding.
_FOLLOWS_FROM_A_CUT = ("dangling-index", "missing")


def flaws(kind: FlawKind, why: str, *remedies: Remedy) -> Callable[[Reading], Iterator[Sighting]]:
    """A rule's generator: all flaws of a kind, in one sighting."""

    def sight(file: Reading) -> Iterator[Sighting]:
        return sight_flaws(file, kind, why, remedies)

    return sight


def file_kind(
    kind: str, evidence: tuple[Evidence, ...], why: str, *remedies: Remedy, fault: Fault = Fault.FILE
) -> Callable[[Reading], Iterator[Sighting]]:
    """A rule's generator: a file of this kind; facts may name its `{detail}` and `{size}`."""

    def sight(file: Reading) -> Iterator[Sighting]:
        if file.identity.kind == kind:
            seen = tuple(
                replace(item, fact=item.fact.format(detail=file.identity.detail, size=file.file_bytes))
                for item in evidence
            )
            place = file_name(file.path)
            yield Sighting(
                value=seen[0].fact, where=place, evidence=seen, why=why, remedies=remedies, fault=fault
            )

    return sight


def sight_flaws(
    file: Reading, kind: FlawKind, why: str, remedies: tuple[Remedy, ...] = ()
) -> Iterator[Sighting]:
    """One sighting for all flaws of a kind: the first few in full, how many more, and what could be read."""
    flaws = [flaw for flaw in file.flaws if flaw.kind == kind]
    cut_short = any(flaw.kind == "past-end" for flaw in file.flaws)
    if not flaws or (cut_short and kind in _FOLLOWS_FROM_A_CUT):
        return
    evidence = [Evidence(flaw.detail, flaw.place or "file") for flaw in flaws[:_SHOWN]]
    if len(flaws) > _SHOWN:
        evidence.append(Evidence(f"{len(flaws) - _SHOWN} more of the same kind", "file"))
    if file.model is None:
        rest = "the rest of the file is not trustworthy and was not read"
    else:
        rest = (
            f"the rest is readable: {_contents(file.model)}"
            if file.model.subgraphs
            else "the file contains nothing else"
        )
    evidence.append(Evidence(rest, "reader"))
    place = flaws[0].place
    yield Sighting(
        value=flaws[0].detail.partition("; ")[0],
        where=f"{file_name(file.path)}, {place}" if place else file_name(file.path),
        evidence=tuple(evidence),
        why=why,
        remedies=remedies,
        fault=Fault.FILE,
    )


def _contents(model: Model) -> str:
    """What a model holds, in a few words."""
    tensors = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
    operators = sum(len(subgraph.operators) for subgraph in model.subgraphs)
    parts = (
        plural(len(model.subgraphs), "subgraph"),
        plural(tensors, "tensor"),
        plural(operators, "operator"),
    )
    return ", ".join(parts)
