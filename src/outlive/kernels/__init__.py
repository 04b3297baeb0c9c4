"""WHAT DOES EACH KERNEL NEED AND REFUSE? One folder for each runtime, one record for each of its operators.

    litert/    LiteRT's own kernels: shapes of outputs, where they live, temporaries, memory
    xnnpack/   XNNPACK's delegate: which operators it takes, and what its nodes allocate
    tflm/      TensorFlow Lite Micro: Init and Prepare of each kernel, replayed
    tables/    sizes and names as data, each with the version of the runtime it holds for

Planners (`arena/`), rules and exporters read these. Nothing here plans or runs a model.
"""

PUBLIC_MODULES = (
    "litert.custom",
    "litert.elementwise",
    "litert.kernel",
    "litert.kernel_signatures",
    "litert.registry",
    "litert.tensor_table",
    "litert.view",
    "tables",
    "tflm.abi",
    "tflm.context",
    "tflm.registry",
    "view",
    "xnnpack.checks",
    "xnnpack.graph",
    "xnnpack.node_memory",
    "xnnpack.registry",
)
