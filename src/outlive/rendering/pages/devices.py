"""The devices, by what they run, with what their documents say."""

from __future__ import annotations

from typing import Any

from outlive.rendering.page import Column, Page, PageVerdict, Section, Table
from outlive.units import plural


def page(listed: Any) -> Page:
    """The page of `outlive devices`."""
    columns = (
        Column(title="name", kind="mono"),
        Column(title=""),
        Column(title="RAM", kind="bytes"),
        Column(title="flash", kind="bytes"),
        Column(title="document", wide=True),
    )
    sections = []
    for kind in ("board", "phone", "microcontroller"):
        rows = [
            (device.name, device.title, device.ram_bytes, device.flash_bytes, device.document)
            for device in listed.devices
            if device.kind == kind
        ]
        caption = plural(len(rows), kind)
        table = Table(id=f"{kind}s", caption=caption, columns=columns, rows=rows, brief=len(rows))
        sections.append(Section(id=kind, title=f"{kind.capitalize()}s", blocks=(table,)))
    verdict = PageVerdict(tone="plain", word=plural(len(listed.devices), "device"))
    return Page(title="Devices", kind="devices", verdict=verdict, sections=tuple(sections))
