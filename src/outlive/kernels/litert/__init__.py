"""LiteRT's own kernels (tflite/kernels): what Prepare makes of outputs, and the memory each kernel takes."""
