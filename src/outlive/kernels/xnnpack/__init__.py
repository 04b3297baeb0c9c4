"""XNNPACK under LiteRT: which operators the delegate takes, and what XNNPACK allocates for a node.

Rules come from the sources of LiteRT's delegate (tflite/delegates/xnnpack/xnnpack_delegate.cc) and of
XNNPACK; tile sizes depend on the instruction set and are in tables/xnnpack_tiles.json, made by running
XNNPACK's src/configs for each.
"""
