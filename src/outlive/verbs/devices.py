"""`devices`: boards, phones and microcontrollers that plans and checks know by name."""

from dataclasses import dataclass
from typing import ClassVar

from outlive.arena.devices import Device, known_devices
from outlive.results import Listed
from outlive.units import plural


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Devices(Listed[Device]):
    """Devices by name; iterate over them."""

    devices: tuple[Device, ...]

    kind: ClassVar[str] = "devices"
    tables = (("devices", Device),)
    row_names = ("name", "aliases")

    def _summary(self) -> tuple[str, str]:
        """How many, and the first names."""
        names = ", ".join(device.name for device in self.devices[:4])
        return plural(len(self.devices), "device"), f"{names} ..."


def devices() -> Devices:
    """List the devices that `device=` and `--device` know by name, your own .toml files included.

    >>> outlive.devices()["raspberry-pi-pico"].ram_bytes
    270336
    """
    return Devices(devices=tuple(known_devices()))
