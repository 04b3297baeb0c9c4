"""WHAT HAPPENS WHEN ANY PYTHON FUNCTION RUNS IN A WORKER?

It may crash, hang or use up memory, and the caller lives.

    Guarded(function) ── SentFunction ── pool ── GuardProcess ──sockets, shared memory──> child/guard.py
         │                                            │
         └─ GuardedCall: value, exception, stream     └─ Flight: all that was seen of a death

`caller` is what the function finds as its caller has it, `outputs` what it prints, `streams` what it yields,
`raised` what it raises. What runs somebody's model answers in a form (`forms`), and is read (`reading`).
"""
