"""Read by `jupyter console`, from etc/jupyter: when the kernel dies, a line says why."""

import contextlib

with contextlib.suppress(Exception):
    from outlive.jupyter.notebook_runners import watch_kernels

    watch_kernels(in_words=True)
