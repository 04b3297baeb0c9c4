"""HOW MUCH MEMORY WILL IT NEED?

    Model + Question ──> builtin   LiteRT's own kernels: the runtime's planner, step for step   ┐
                    ──> xnnpack   what the delegate takes, packs and works in                   ├──> Plan
                    ──> tflm      TensorFlow Lite Micro: head, tail, smallest arena             ┘

Nouns: `Question` (asked), `Plan` (the answer), `Placement` (a tensor and its bytes), `OpLoad` (what is
alive at an operator), `Shapes` (shapes the runtime gave, in place of the file's). Nothing here runs a model.
"""

PUBLIC_MODULES = (
    "budget",
    "devices",
    "measured",
    "plan",
    "planners",
    "questions",
    "tflm.planning",
    "xnnpack.partition",
)
