"""Each operator's Init and Prepare, replayed: what it asks of the arena, and what it refuses.

One module for each family of kernels; `registry` finds the one for an operator. A function here stands for
one Prepare of tensorflow/lite/micro/kernels and looks at tensors in its order, because each look costs bytes.
The size of a struct depends on the ABI: `abi` computes it from its fields in tables/tflm.json, which says as
well which operator keeps which struct, and for which commit of tensorflow/tflite-micro that holds.
"""
