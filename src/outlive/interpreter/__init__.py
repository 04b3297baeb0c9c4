"""HOW IS A MODEL RUN IN A WORKER?

    Interpreter ── SharedTensors ── Session ── Worker   one model in one process: opened, allocated, run
                                       └─ Judge: handed in by the caller; says what a death or a refusal means

The drop-in `Interpreter`, the ladder of accelerators, and whole runs (`recorded_run`).
"""

PUBLIC_MODULES = (
    "affine", "agreement", "answer_forms", "array_facts", "feeds", "interpreter", "interpreter_options",
    "judge", "ladder", "prepared_shapes", "recorded_run", "session", "signature", "tflm_benchmark",
)  # fmt: skip
