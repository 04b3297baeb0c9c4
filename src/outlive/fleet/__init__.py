"""A THOUSAND MODELS: WHICH ARE WELL?

    folders, patterns, lists ── file_discovery ── paths ── scan_state (tasks to do, tasks done)
                                                           │  ▲
                                                  one task │  │ one Row
                                                           ▼  │
      engines (local_engine: processes here; Dask, Ray) ── file_scan (read, check, plan, run, diagnose)
                                                           │
    the journal (a line per row)           ◄───────────────┘      regressions (what got worse since a scan)

Each engine process starts workers of its own; `file_scan` lets models run side by side only while their
planned memory fits the machine. `ScanOptions` is what is asked, `Row` what one file came to.
"""

from outlive.fleet.rows import OUTCOMES, Row

PUBLIC_MODULES = (
    "file_discovery", "file_scan", "local_engine", "scan_state", "regressions", "rows", "scanning",
)  # fmt: skip

__all__ = ["OUTCOMES", "Row"]
