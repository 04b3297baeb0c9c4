"""WHAT HAPPENED WHEN IT RAN?

    your program                          nursery (runtime loaded, one thread)
      Interpreter ── Session ── Worker ──control socket──> forks, traces, reaps
                        │          │                            │
                        │          └─pipes, shared block──> worker: one interpreter, capped
                        └─ Flight: all that was seen of a death; judged upstairs

The process that imports outlive never loads the native runtime: only `child/` does, in its own processes.
Nouns: `Interpreter`, `SignatureRunner`, `Limits`, `Flight`, `Delegate`. Whoever opens the public door hands
in a judge (`verdicts.set_judge`): a worker carries facts and does not judge them.
"""
