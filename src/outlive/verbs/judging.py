"""The judge that verbs hand to workers: a fact in, the finding and its drawn text out.

Quick to import: rules are loaded when there is something to judge. It has no state, so that it goes along
wherever a guarded function, a record of a run or a scan's task is sent.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outlive.errors import InternalError, ModelError
from outlive.interpreter.judge import Judge, Source
from outlive.process.flight import Flight, OpSeen

if TYPE_CHECKING:
    from outlive.finding import Finding
    from outlive.model import Model, Reading


_OF_RUNTIMES = re.compile(r"\b(?:ai_edge_litert|tflite_runtime|tensorflow|keras|pycoral)\b")
# What LiteRT's own interpreter says of such a file, sentence by sentence (tflite/core/model_builder.cc,
# tflite/core/interpreter_builder.cc, tflite/core/api/op_resolver.cc, tflite/mmap_allocation.cc).
_NO_FLATBUFFER = "The model is not a valid Flatbuffer buffer"
_NOTHING_THERE = "The model allocation is null/empty"
_LITERT_WORDS = {
    "F101": f"Could not open '{{source}}'.\n{_NOTHING_THERE}",
    "F102": f"mmap of size 0 requested.\n{_NOTHING_THERE}",
    "F103": f"Could not open '{{source}}'.\n{_NOTHING_THERE}",
    "F114": "Op builtin_code out of range. Are you using old TFLite binary with newer model?\n"
    "Registration failed.",
    "F122": "Model provided is schema version {version} not equal to supported version 3.",
    "O122": "Didn't find op for builtin opcode '{op}' version '{op_version}'.\nRegistration failed.",
    "O123": "Didn't find op for builtin opcode '{op}' version '{op_version}'. An older version of this "
    "builtin might be supported. Are you using an old TFLite binary with a newer model?\n"
    "Registration failed.",
}


class RulesJudge(Judge):
    """Asks the rules."""

    __slots__ = ()

    def find(self, kind: str, fact: Any, source: Source | None = None) -> tuple[Finding, str, Any]:
        """The finding for a fact and its drawn text; a flight comes back with all that is known of it.

        A flight without a file is judged by a few rules, and the others are not even loaded: a process that
        called a function that died should not grow by them.
        """
        from outlive.rendering.finding_text import plain_finding

        if not isinstance(fact, Flight):
            finding = _name_file(_first(kind, fact), source)
        elif source and fact.stage != "call":
            finding, fact = _find_with_model(fact, source)
        else:
            finding, fact = _find_alone(fact)
            source = source or (fact.model_files[0] if len(fact.model_files) == 1 else None)
            finding = _find_in_given(finding, fact, source) if source else finding
        return finding, plain_finding(finding), fact

    def find_all(self, flight: Flight) -> tuple[Finding, ...]:
        """The findings on a run: why it ended badly, or what went wrong without a word."""
        from outlive.model import read_source
        from outlive.rules import assess_run

        if flight.died or flight.error_type:
            return (self.find("flight", flight, flight.source)[0],)
        reading = None if flight.source is None else read_source(flight.source, self.changed_file)
        return tuple(_name_file(finding, flight.source) for finding in assess_run(flight, reading))

    def find_in_words(self, text: str, model: Source = "", seen: Flight | None = None) -> tuple[Finding, ...]:
        """What a traceback of a runtime says, as `autopsy` tells it; other tracebacks are left alone."""
        if not _OF_RUNTIMES.search(text):
            return ()
        from outlive.diagnosis.autopsy import read_text
        from outlive.diagnosis.log_model import named_model, with_model

        answer, model = read_text(text), model or named_model(text, "")
        finding = (with_model(answer, model) if model else answer).finding
        if model and seen is not None and seen.limits.get("memory_bytes") is not None:
            finding = _at_limit(replace(seen, stage=answer.stage or "invoke"), model) or finding
        return () if finding is None else (finding,)

    def refuse_file(self, source: Source, *, litert: bool = False) -> None:
        """Raise ModelError for what no runtime loads: missing, no model, cut off, of another schema.

        With `litert`, the LiteRT that is installed here is to load it: it refuses operators it has no kernel
        for.
        """
        from outlive.model import read_source

        reading = read_source(source)
        if not reading.is_loadable:
            from outlive.rules import file_errors

            raise _refused_to_load(reading, file_errors(reading), source)
        if litert and reading.model is not None and _lacks_kernel(reading.model):
            from outlive.rules import missing_kernels

            raise _refused_to_load(reading, missing_kernels(reading), source)

    def attached(self, flight: Flight) -> Flight:
        """The record with this judge at hand, which makes its `findings`."""
        return replace(flight, judge=self)

    def changed_file(self, change: Any) -> ModelError:
        """The error for a file that is no longer what was read, where its weights are asked for later."""
        from outlive.rules import of_change

        return refusal(of_change(change))


JUDGE = RulesJudge()


def refusal(errors: tuple[Finding, ...]) -> ModelError:
    """The error for a file that cannot be used, with all findings that say why."""
    from outlive.rendering.finding_text import plain_finding

    return ModelError(errors[0], plain_finding(errors[0]), errors[1:])


def _lacks_kernel(model: Model) -> bool:
    """True if the LiteRT that is installed here, and whose kernels are known, has none for an operator."""
    from importlib.metadata import PackageNotFoundError, version

    from outlive.kernels.litert.kernel_signatures import has_kernel, runtime_version

    operators = (operator for subgraph in model.subgraphs for operator in subgraph.operators)
    if all(operator.is_custom or has_kernel(operator.type, operator.version) for operator in operators):
        return False
    package, _, known = runtime_version().rpartition(" ")
    try:
        return version(package) == known
    except PackageNotFoundError:
        return False


def _refused_to_load(reading: Reading, errors: tuple[Finding, ...], source: Source) -> ModelError:
    """The error, with LiteRT's own words first: programs look for them."""
    from outlive.names import foreign_lines
    from outlive.rendering.finding_text import plain_finding

    errors = tuple(_name_file(item, source) for item in errors)
    at, model = errors[0].op, reading.model
    operator = None if at is None or model is None else model.subgraphs[at.subgraph].operators[at.index]
    words = _LITERT_WORDS.get(errors[0].code, _NO_FLATBUFFER).format(
        source=source,
        version=getattr(model, "schema_version", ""),
        op=getattr(operator, "name", ""),
        op_version=getattr(operator, "version", ""),
    )
    return ModelError(errors[0], f"{foreign_lines(words)}\n{plain_finding(errors[0])}", errors[1:])


def _find_alone(flight: Flight) -> tuple[Finding, Flight]:
    from outlive.diagnosis.alone import with_cause_of_end
    from outlive.rules import judge, load_rules

    flight = _with_limit(flight)
    found = judge({"flight": flight}, load_rules("D50", "D51")).findings
    finding = found[0] if found else _first("flight", flight)
    return with_cause_of_end(finding, flight), flight


def _find_in_given(finding: Finding, flight: Flight, source: Source) -> Finding:
    """The fault of the one model that a guarded function had when it died, if it explains the end."""
    from outlive.diagnosis.frame_hints import stage_in
    from outlive.diagnosis.run_cause import with_cause

    stage = stage_in(flight.frames) or "invoke"
    found = with_cause(finding, _with_op_index(replace(flight, stage=stage), source), source)
    return finding if found.code == finding.code else _name_file(found, source)


def _at_limit(flight: Flight, source: Source) -> Finding | None:
    """The finding that its memory limit was too low for the model, as of a run with that limit; else None."""
    usual = {**flight.runtime, "opened": {"kernels": "AUTO", "threads": None}}  # a function may have others
    finding, _ = _find_with_model(replace(flight, runtime=usual, resized={}), source)
    return finding if finding.code == "D502" else None


def _find_with_model(flight: Flight, source: Source) -> tuple[Finding, Flight]:
    from outlive.diagnosis.run_cause import with_cause
    from outlive.rules.flight_end import lacked_memory, may_lack_memory

    flight = _with_limit(_with_op_index(flight, source))
    if lacked_memory(flight) or may_lack_memory(flight):
        from outlive.planning.verdicts import with_plan

        flight = with_plan(flight, source)
    return _name_file(with_cause(_first("flight", flight), flight, source), source), flight


def _first(kind: str, fact: Any) -> Finding:
    """The worst that the rules on such a fact find; one of them always does."""
    from outlive.rules import judge

    found = judge({kind: fact}).findings
    if not found:
        raise InternalError(f"no rule explains this {kind}: {fact!r}")
    return found[0]


def _name_file(finding: Finding, source: Source | None) -> Finding:
    """The finding with the model's path in its commands, where a rule could only say FILE."""
    from outlive.finding import shell_path

    if not isinstance(source, str) or not source:
        return finding
    name = shell_path(source)
    remedies = tuple(
        replace(item, command=re.sub(r"\bFILE\b", lambda _: name, item.command)) for item in finding.remedies
    )
    return replace(finding, remedies=remedies)


def _with_limit(flight: Flight) -> Flight:
    """The flight of a complaint about memory at a limit with that limit as its end."""
    from outlive.rules.flight_end import complains_at_limit

    return replace(flight, ended_by="memory") if complains_at_limit(flight) else flight


def _with_op_index(flight: Flight, source: Source) -> Flight:
    """The flight with its operator, and the operator's index, where only one in the model can be meant."""
    from outlive.model import read_source

    kinds = {flight.op.type} if flight.op is not None else set(flight.op_candidates)
    if not kinds or (flight.op is not None and flight.op.index is not None):
        return flight
    model = read_source(source).model
    places = [
        OpSeen(type=operator.name, subgraph=subgraph.index, index=operator.index)
        for subgraph in (model.subgraphs if model is not None else ())
        for operator in subgraph.operators
        if operator.name in kinds
    ]
    if len({place.type for place in places}) != 1:
        return flight
    return replace(flight, op=places[0] if len(places) == 1 else OpSeen(type=places[0].type))
