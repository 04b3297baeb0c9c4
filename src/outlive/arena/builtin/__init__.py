"""LiteRT's own kernels: lifetimes, in-place sharing, the runtime's placement step for step."""
