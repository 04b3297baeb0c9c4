"""HOW IS A MODEL RUN IN A WORKER?

    Interpreter ── SharedTensors ── Session ── Worker   one model in one process: opened, allocated, run
                                       └─ Judge: handed in by the caller; says what a death or a refusal means

The drop-in `Interpreter`, the ladder of accelerators, and whole runs (`recorded_run`, `inner_tensors`).
"""

PUBLIC_MODULES = (
    "affine", "agreement", "answer_forms", "array_facts", "compiled_accelerators", "feeds", "inner_tensors",
    "input_check", "interpreter", "interpreter_options", "judge", "ladder", "prepared_shapes", "recorded_run",
    "session", "signature", "tflm_benchmark",
)  # fmt: skip
