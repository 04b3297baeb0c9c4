"""Exit codes, as the documentation promises them."""

from __future__ import annotations

CLEAN = 0
FINDINGS = 1
USAGE = 2
DIED = 3
DOES_NOT_FIT = 4
OUR_BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141
