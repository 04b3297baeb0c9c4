"""Each operator's Init and Prepare, replayed: what it asks of the arena, and what it refuses.

One module for each family of kernels; `registry` finds the one for an operator. A function here stands for
one Prepare of tensorflow/lite/micro/kernels and looks at tensors in its order, because each look costs bytes.
The size of a struct depends on the ABI: `abi` computes it from tables/tflm_structs.json; which operator keeps
which struct is in tables/tflm_operators.json. Both carry the commit of tensorflow/tflite-micro they hold for.
"""
