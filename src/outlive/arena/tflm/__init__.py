"""TensorFlow Lite Micro's memory: one arena, planned tensors at its head, everything that stays at its tail.

Model ── kernels/tflm (each operator's Init and Prepare, replayed) ──> requests, shapes, refusals
── lifetimes ── greedy (the planner, tie for tie) ──> head
── allocation (allocator objects ... input and output structures) ──> tail, smallest arena
── planning ──> Plan
"""
