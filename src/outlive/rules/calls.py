"""What rules on refused calls share: the tensor in words, what is wanted beside what was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from outlive.finding import Evidence, Fault, Remedy, Sighting
from outlive.interpreter.judge import Call
from outlive.units import format_shape


def refused_call(
    problem: str, where: str, why: str, *remedies: Remedy, seen: Evidence | None = None
) -> Callable[[Call], Iterator[Sighting]]:
    """A rule's generator: a call that was refused for this problem.

    The fact that was `seen` may name the call's `{text}` and what was `{given}`; without one, the evidence is
    what the model wants and what it was given.
    """

    def sight(call: Call) -> Iterator[Sighting]:
        if call.problem == problem:
            given = f"{format_shape(call.given_shape)} {call.given_dtype}"
            known = seen and (replace(seen, fact=seen.fact.format(text=call.text, given=given)),)
            yield Sighting(
                value=given_and_wanted(call) if seen is None else "",
                where=tensor_place(call, where),
                evidence=known or wanted_and_given(call),
                why=why,
                remedies=remedies,
                fault=Fault.INPUT,
            )

    return sight


def tensor_place(call: Call, what: str) -> str:
    """The tensor of a refused call as `input "image", tensor 0`."""
    named = f'{what} "{call.name}"' if call.name else what
    return named if call.index is None else f"{named}, tensor {call.index}"


def given_and_wanted(call: Call) -> str:
    """What the model was given, and what it expects, as far as they differ."""
    given, wanted = format_shape(call.given_shape), format_shape(call.wanted_shape)
    if given == wanted:
        given, wanted = call.given_dtype, call.wanted_dtype
    return f"{given}, expected {wanted}"


def wanted_and_given(call: Call) -> tuple[Evidence, Evidence]:
    """What the model expects, and what it was given."""
    wanted = f"expected {format_shape(call.wanted_shape)} {call.wanted_dtype}"
    given = f"given {format_shape(call.given_shape)} {call.given_dtype}"
    return Evidence(wanted, "model"), Evidence(given, "call")
