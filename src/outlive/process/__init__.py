"""HOW DO WORKERS START, STAY WITHIN LIMITS AND END?

    your program                          nursery (runtime loaded, one thread)
      Session ── Worker ──control socket──> forks, traces, reaps
                   │                            │
                   ├─pipes, shared block──> worker: one interpreter, within its limits
                   └─ Flight: everything that was recorded of a death; the caller judges it

The process that imports outlive never loads the native runtime: only `child/` does, in its own processes.
Nouns: `Limits`, `Flight`. A worker carries facts and does not interpret them.
"""
