"""HOW IS A MODEL RUN IN A WORKER?

    Interpreter ── Session ── process.Worker          one model in one worker: opened, allocated, run
                      └─ Judge: handed in by the caller; says what a death or a refusal means

The drop-in `Interpreter`, CompiledModel and its fallback ladder, whole runs (`running`), and the measurements
made on top of them (`measuring`, `preparing`, `intermediates`, `untouched`).
"""
