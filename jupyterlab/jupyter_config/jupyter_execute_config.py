"""Read by `jupyter execute`, from etc/jupyter: a notebook whose kernel dies says why."""

import contextlib

with contextlib.suppress(Exception):
    from outlive.jupyter.notebook_runners import watch_kernels

    watch_kernels()
