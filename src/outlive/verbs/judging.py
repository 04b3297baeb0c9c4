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


_OF_RUNTIMES = re.compile(r"\b(?:ai_edge_litert|tflite_runtime|tensorflow|keras|pycoral)\b")
# What no runtime takes for a model; one without the identifier may still be one, for a lenient runtime.
_NO_MODELS = frozenset(
    {"unreadable", "directory", "empty", "git-lfs-pointer", "web-page", "zip-archive", "text", "other-format"}
)

# What LiteRT's own interpreter says of such a file (tflite/core/model_builder.cc, tflite/mmap_allocation.cc).
_NO_FLATBUFFER = "The model is not a valid Flatbuffer buffer"
_LITERT_WORDS = {
    "unreadable": "Could not open '{source}'.The model allocation is null/empty",
    "directory": "Could not open '{source}'.The model allocation is null/empty",
    "empty": "mmap of size 0 requested.The model allocation is null/empty",
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
        elif source:
            finding, fact = _find_with_model(fact, source)
        else:
            finding, fact = _find_alone(fact)
        return finding, plain_finding(finding), fact

    def find_all(self, flight: Flight) -> tuple[Finding, ...]:
        """The findings on a run: why it ended badly, or what went wrong without a word."""
        from outlive.model import read_source
        from outlive.rules import assess_run

        if flight.died or flight.error_type:
            return (self.find("flight", flight, flight.source)[0],)
        reading = None if flight.source is None else read_source(flight.source, self.changed_file)
        return tuple(_name_file(finding, flight.source) for finding in assess_run(flight, reading))

    def find_in_words(self, text: str) -> tuple[Finding, ...]:
        """What a traceback of a runtime says, as `autopsy` tells it; other tracebacks are left alone."""
        if not _OF_RUNTIMES.search(text):
            return ()
        from outlive.diagnosis.autopsy import read_text
        from outlive.diagnosis.log_model import named_model, with_model

        answer, model = read_text(text), named_model(text, "")
        finding = (with_model(answer, model) if model else answer).finding
        return () if finding is None else (finding,)

    def refuse_file(self, source: Source) -> None:
        """Raise ModelError for what is missing, a folder, empty or another kind of file.

        Only its first bytes are looked at; a model that is damaged further on is judged when it is refused.
        """
        from outlive.model import identify_source

        kind = identify_source(source).kind
        if kind not in _NO_MODELS:
            return
        from outlive.model import read_source
        from outlive.names import foreign_lines
        from outlive.rendering.finding_text import plain_finding
        from outlive.rules import file_errors

        errors = tuple(_name_file(item, source) for item in file_errors(read_source(source)))
        words = foreign_lines(_LITERT_WORDS.get(kind, _NO_FLATBUFFER).format(source=source))
        raise ModelError(errors[0], f"{words}\n{plain_finding(errors[0])}", errors[1:])

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


def _find_alone(flight: Flight) -> tuple[Finding, Flight]:
    from outlive.diagnosis.alone import with_cause_of_end
    from outlive.rules import judge, load_rules

    flight = _with_limit(flight)
    found = judge({"flight": flight}, load_rules("D50", "D51")).findings
    finding = found[0] if found else _first("flight", flight)
    return with_cause_of_end(finding, flight), flight


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
