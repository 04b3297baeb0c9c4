"""Hostile frames of guarded workers: see tools/fuzz_wire.py, which says what the bytes mean."""

from __future__ import annotations

import logging

from tools.fuzz_wire import fuzz_guard_frames, seeds

__all__ = ["seeds", "try_one"]


def try_one(data: bytes) -> None:
    before = logging.root.manager.disable
    logging.disable()  # what a worker logs would be shown
    try:
        fuzz_guard_frames(data)
    finally:
        logging.disable(before)
