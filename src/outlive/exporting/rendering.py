"""Fills a template, and refuses to print what no filter has made safe."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlive.exporting.foreign import Foreign, c_string, comment, java_string, python_string
from outlive.units import format_shape

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **values: Any) -> str:
    """The text of a template, such as `tflm/main.cc.j2`."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        # Not PackageLoader: it says "not found" of a template that cannot be read.
        loader=FunctionLoader(lambda name: _TEMPLATES.joinpath(name).read_text(encoding="utf-8")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # this is source code and no page: see `foreign`
        finalize=_refuse_foreign,
    )
    made.filters |= {
        "c_string": c_string,
        "comment": comment,
        "java_string": java_string,
        "python_string": python_string,
        "number": number,
        "stored": stored,
        "shape": format_shape,
    }
    return made


def _refuse_foreign(value: Any) -> Any:
    if isinstance(value, Foreign):
        raise TypeError("a name from a file has to pass a filter before it is written")
    return value


def stored(zero_point: int) -> str:
    """The integer of a quantized value beside its zero point, as people write it: `(stored + 128)`."""
    if not zero_point:
        return "stored"
    return f"(stored {'-' if zero_point > 0 else '+'} {abs(zero_point)})"


def number(value: float) -> str:
    """A floating-point number as all our languages write it, to the last bit; it must be finite."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number that code can be written with")
    text = repr(float(value))
    return text if "." in text or "e" in text else f"{text}.0"
