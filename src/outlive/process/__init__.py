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
    "flight",
    "factories",
    "flight_recorder",
    "limits",
    "operating_system",
    "worker",
    "worker_factory",
    "child.codec",
    "child.kernel_names",
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
    # What watches a kernel, as a process or as a thread of a server, and the record that it leaves.
    "child.operating_system",
    "child.watcher.cell_notes",
    "child.watcher.death_record",
    "child.watcher.notes_file",
    "child.watcher.observation",
    "child.watcher.watch_kernel",
)
