"""What could be told of the operators an accelerator took: the same shape for every kind of accelerator."""

from __future__ import annotations

from dataclasses import dataclass

from outlive.accelerators.nouns import Crossing, Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Operators taken and refused; `count` without `operators` where only their number is known.

    `absent` says that the accelerator turned out not to be here at all; `error` is its own complaint where
    that says more than the runtime's.
    """

    count: int | None = None
    operators: tuple[int, ...] | None = None
    partitions: int | None = None
    refused: tuple[Refusal, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    device: str = ""
    is_software: bool = False
    absent: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()
