"""The version: the package's metadata is made from it."""

from __future__ import annotations

__version__ = "0.1.0"
