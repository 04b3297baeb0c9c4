"""Makes frozen objects quickly: a model has thousands of tensors, and `frozen` pays for each field twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

Record = TypeVar("Record")


def fast_constructor(record: type[Record]) -> Callable[..., Record]:
    """A function that builds the frozen, slotted dataclass from its fields in order.

    The same object as `record(name=value, ...)` gives, made through its slots: about a third of the time.
    """
    names = [field.name for field in fields(record)]  # type: ignore[arg-type]
    space: dict[str, Any] = {f"set_{name}": getattr(record, name).__set__ for name in names}
    space.update(new=object.__new__, record=record)
    sets = "".join(f"    set_{name}(made, {name})\n" for name in names)
    defaults = ", ".join(f"set_{name}=set_{name}" for name in names)
    head = f"def make({', '.join(names)}, *, new=new, record=record, {defaults}):\n"
    source = f"{head}    made = new(record)\n{sets}    return made\n"
    exec(source, space)  # our own field names, nothing from outside
    made: Callable[..., Record] = space["make"]
    return made
