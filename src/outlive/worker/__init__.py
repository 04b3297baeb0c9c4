"""WHAT HAPPENED WHEN IT RAN?

    your program                          nursery (runtime loaded, one thread)
      Interpreter ── Session ── Worker ──control socket──> forks, traces, reaps
                        │          │                            │
                        │          └─pipes, shared block──> worker: one interpreter, capped
                        └─ Flight: all that was seen of a death; judged upstairs

The process that imports outlive never loads the native runtime: only `child/` does, in its own processes.
Nouns: `WorkerInterpreter`, `SignatureRunner`, `Limits`, `Flight`, `Delegate`. A worker carries facts and does
not interpret them: whoever opens one hands in a judge (`verdicts.Judge`), which goes along in the `Opening`.
Without one, what would be an error with a finding is `Unjudged`, with the fact in it.
"""
