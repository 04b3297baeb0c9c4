"""Cannot start more threads

What it checks
    The system let the process start its threads. The library reports a refusal (pthread_create, EAGAIN,
    "can't start new thread"), or a thread limit was reached and the process died while it raised an
    error in a thread without Python state.

Why it matters
    Threads count like processes, against RLIMIT_NPROC of the user and pids.max of the container.
    Libraries do not expect a refusal: LiteRT's own kernels end with a segmentation fault, TensorFlow
    with a failed check.

What to do
    Use fewer threads, or raise the limit in the message.

Limits
    If no limit was reached, the system may have refused memory for the thread's stack.
"""

from typing import Any

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import amount, cause, is_function, native_stack, place, status, thread_words

_RAISE = {"pids.max": "docker run --pids-limit 4096 ...", "RLIMIT_NPROC": "ulimit -u 4096"}
_WHOSE = {"pids.max": "the container or service", "RLIMIT_NPROC": "this user"}


@rule("D516", "threads-refused", Severity.ERROR, since="0.2", cause="threads-refused")
def threads_refused(flight: Flight) -> Sightings:
    if cause(flight) != "threads-refused":
        return
    seen = flight.limits.get("threads")
    known: dict[str, Any] = seen if isinstance(seen, dict) else {}
    said = thread_words(flight)
    source = "standard error" if flight.died else flight.error_type
    words = (Evidence(said, source),) if said else ()
    ended = (status(flight), *native_stack(flight)) if flight.died else ()
    by, limit = known.get("by"), amount(known.get("limit"))
    yield Sighting(
        value=f"{by} is {limit:,}" if by and limit is not None else "",
        where=place(flight),
        evidence=(*words, *_counts(known), *ended),
        why="the system refused a new thread, and the library cannot continue without it",
        remedies=(*_fewer(flight, known), *_raised(known)),
        confidence="certain" if words or known.get("by") else "likely",
        fault=Fault.MACHINE,
    )


def _counts(known: dict[str, Any]) -> Iterator[Evidence]:
    asked, running = amount(known.get("asked")), amount(known.get("running"))
    if asked is not None:
        yield Evidence(f"{asked:,} threads requested", "num_threads")
    if running is not None:
        yield Evidence(f"{running:,} threads running", "tracer")
    by, limit = str(known.get("by") or ""), amount(known.get("limit"))
    if by in _WHOSE and limit is not None:
        fact = f"{_WHOSE[by]} may have {limit:,} processes and threads"
        yield Evidence(fact, by)


def _fewer(flight: Flight, known: dict[str, Any]) -> Iterator[Remedy]:
    if is_function(flight):
        action = "use fewer threads in the library (TensorFlow: tf.config.threading)"
        yield Remedy(action, Tag.SAME_RESULTS)
    else:
        running = amount(known.get("running")) or 1
        few = max(1, running // 2)
        yield Remedy("use fewer threads", Tag.SAME_RESULTS, command=f"outlive run FILE --threads {few}")


def _raised(known: dict[str, Any]) -> Iterator[Remedy]:
    by = str(known.get("by") or "")
    if by in _RAISE:
        yield Remedy(f"raise {by}", Tag.SAME_RESULTS, command=_RAISE[by])
    else:
        yield Remedy("check the limits of this machine", Tag.SAME_RESULTS, command="outlive doctor")
