"""LiteRT with XNNPACK, its default on CPUs: what it takes, what it packs, what stays with the runtime.

::

    operators ── accepting.py (the delegate's checks) ── partition.py (runs of accepted operators)
              ── building.py ── rewriting.py ── XNNPACK's own graph of each run
              ── packing.py, imaging.py (weights, pointers) ── workspace.py (activations) ── planning.py

Rules come from the sources of LiteRT's delegate (tflite/delegates/xnnpack/xnnpack_delegate.cc) and of
XNNPACK; tile sizes depend on the instruction set and are in `tiles.json`, made by running XNNPACK's
src/configs for each.
"""
