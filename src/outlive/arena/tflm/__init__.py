"""TensorFlow Lite Micro's memory: one arena, planned tensors at its head, everything that stays at its tail.

    Model ── kernels/ (each operator's Init and Prepare, replayed) ──> requests, shapes, refusals
          ── lifetimes ── greedy (the planner, tie for tie) ──> head
          ── steps (allocator objects ... input and output structures) ──> tail, smallest arena
          ── planning ──> Plan

What a struct weighs depends on the ABI: `abi` computes it from `layouts.json`; which operator keeps which
struct is `operators.json`. Both carry the commit of tensorflow/tflite-micro they describe.
"""
