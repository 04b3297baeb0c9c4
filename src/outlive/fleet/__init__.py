"""A THOUSAND MODELS: WHICH ARE WELL?

    folders, patterns, lists ── gathering ── paths ── desk (what is to be done, and what is done already)
                                                       │  ▲
                                              one task │  │ one Row
                                                       ▼  │
        engines (processes here, Dask, Ray) ── looking (read, check, plan, run, diagnose; in any process)
                                                       │
    journal (a line per row, as they come) ◄───────────┘      comparing (what got worse since another scan)

Each engine process starts workers of its own; `admission` lets models run side by side only while their
planned memory fits the machine. Nouns: `Order` (what is asked), `Row` (what one file came to), `Scan`.
"""

from outlive.fleet.nouns import Order
from outlive.fleet.rows import Row

__all__ = ["Order", "Row"]
