"""The devices, by what they run, with what their documents say."""

from __future__ import annotations

from typing import Any

from outlive.rendering import page as ui
from outlive.units import plural


def page(listed: Any) -> ui.Page:
    """The page of `outlive devices`."""
    columns = ui.columns("name: mono |  | RAM: bytes | flash: bytes | document: wide -v")
    sections = []
    for kind in ("board", "phone", "microcontroller"):
        rows = [
            (device.name, device.title, device.ram_bytes, device.flash_bytes, device.document)
            for device in listed.devices
            if device.kind == kind
        ]
        caption = plural(len(rows), kind)
        table = ui.Table(f"{kind}s", caption, columns, rows, brief=len(rows))
        sections.append(ui.Section(kind, f"{kind.capitalize()}s", (table,)))
    verdict = ui.PageVerdict("plain", plural(len(listed.devices), "device"))
    return ui.Page(title="Devices", kind="devices", verdict=verdict, sections=tuple(sections))
