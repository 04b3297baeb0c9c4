"""LiteRT with XNNPACK, its default on CPUs: what it takes, what it packs, what blocks with the runtime.

::

    operators ── kernels/xnnpack (the delegate's checks) ── partition.py (runs of accepted operators)
              ── graph_builder.py ── graph_rewrites.py ── XNNPACK's own graph of each run
              ── kernels/xnnpack (weights, pointers of a node) ── allocations.py (activations) ── planning.py
"""
