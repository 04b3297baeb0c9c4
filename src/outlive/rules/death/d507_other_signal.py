"""the model's process was ended by an unusual signal

What it checks
    Whether the process ended by a signal that the other rules do not explain, such as SIGILL, SIGSYS or
    SIGTRAP.

Why it matters
    SIGILL means an instruction that this processor does not have; SIGSYS a system call that a sandbox
    forbids; SIGXCPU that the processor time it was allowed is used up.

What to do
    Look at the signal and the native stack in the evidence, and at what this machine allows.

Limits
    The signal may also have been sent by another process.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, other_kernels, place, subject, witness

_MEANS = {
    "SIGILL": "the processor met an instruction that it does not have",
    "SIGSYS": "a sandbox forbids a system call that was made",
    "SIGTRAP": "native code met a trap, as compilers put where a program must not come",
    "SIGXCPU": "the processor time that the process may use was used up",
    "SIGXFSZ": "a file grew beyond the size that the process may write",
}


@rule("D507", "other-signal", Severity.ERROR, since="0.1")
def other_signal(flight: Flight) -> Sightings:
    if cause(flight) != "other-signal":
        return
    code = flight.signal in ("SIGILL", "SIGTRAP")
    doctor = Remedy("see what this machine allows", Tag.SAME_RESULTS, command="outlive doctor")
    yield Sighting(
        headline=f"{subject(flight)} was ended by an unusual signal",
        where=place(flight),
        evidence=witness(flight),
        why=_MEANS.get(flight.signal or "", "nothing is known of why this signal was raised"),
        remedies=(*other_kernels(flight), doctor) if code else (doctor,),
        confidence="likely; another process may have sent it",
        fault=Fault.RUNTIME if code else Fault.MACHINE,
    )
