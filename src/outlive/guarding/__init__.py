"""WHAT HAPPENS WHEN ANY PYTHON FUNCTION RUNS IN A WORKER?

It may crash, hang or use up memory, and the caller lives.

    Guarded(function) ── SentFunction ── pool ── GuardProcess ──sockets, shared memory──> process/child/guard
         │                                            │
         └─ GuardedCall: value, exception, stream     └─ Flight: all that was seen of a death

`caller_state` is what the function finds as its caller has it, `output` what it prints, `worker_errors` what
it raises. Whatever runs a model answers in plain values of a fixed form, which are read and never unpickled.
"""

PUBLIC_MODULES = (
    "caller_state", "functions", "guard_process", "guarded", "guarded_call", "pool", "script",
    "worker_errors",
)  # fmt: skip
