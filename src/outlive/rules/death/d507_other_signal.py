"""Process ended by an unusual signal

What it checks
    The process did not end by a signal that the other rules do not explain, such as SIGILL, SIGSYS or
    SIGTRAP.

Why it matters
    SIGILL means an instruction that this processor does not support, SIGSYS a system call that a
    sandbox forbids, SIGXCPU an exhausted CPU time limit.

What to do
    Read the signal and the native stack in the evidence, and check the limits of this machine.

Limits
    Another process may have sent the signal.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, other_kernels, place, witness

_MEANS = {
    "SIGILL": "the processor does not support an instruction",
    "SIGSYS": "a sandbox forbids a system call of the process",
    "SIGTRAP": "native code reached a trap, which compilers insert at unreachable places",
    "SIGXCPU": "the process reached its CPU time limit",
    "SIGXFSZ": "a file reached the size limit of the process",
}


@rule("D507", "other-signal", Severity.ERROR, since="0.1")
def other_signal(flight: Flight) -> Sightings:
    if cause(flight) != "other-signal":
        return
    code = flight.signal in ("SIGILL", "SIGTRAP")
    doctor = Remedy("check the limits of this machine", Tag.SAME_RESULTS, command="outlive doctor")
    yield Sighting(
        value=str(flight.signal),
        where=place(flight),
        evidence=witness(flight),
        why=_MEANS.get(flight.signal or "", "the reason for this signal is unknown"),
        remedies=(*other_kernels(flight), doctor) if code else (doctor,),
        confidence="likely; another process may have sent it",
        fault=Fault.RUNTIME if code else Fault.MACHINE,
    )
