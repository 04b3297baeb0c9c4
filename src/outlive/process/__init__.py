"""HOW DO WORKERS START, STAY WITHIN LIMITS AND END?

    your program                          nursery (runtime loaded, one thread)
      Session ── Worker ──control socket──> forks, traces, reaps
                   │                            │
                   ├─pipes, shared block──> worker: one interpreter, within its limits
                   └─ Flight: everything that was recorded of a death; the caller judges it

The process that imports outlive never loads the native runtime: only `child/` does, in its own processes.
Nouns: `Limits`, `Flight`. A worker carries facts and does not interpret them.
"""

PUBLIC_MODULES = (
    "answers",
    "delegation",
    "factories",
    "flight",
    "flight_recorder",
    "limits",
    "operating_system",
    "sandbox_policy",
    "worker",
    "worker_factory",
    "child.codec",
    "child.tracing.kernel_names",
    # The worker's half of `guarding` and `growth`.
    "child.guard.exceptions",
    "child.guard.caller_environment",
    "child.guard.message_frames",
    "child.guard.lane",
    "child.guard.pickling",
    "child.guard.plain_values",
    "child.guard.random_state",
    "child.guard.segments",
    "child.guard.variables",
    "child.leak.census",
    "child.leak.rounds",
    "child.leak.sites",
    "child.leak.targets",
)
