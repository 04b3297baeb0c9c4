"""`devices`: boards, phones and microcontrollers that plans and checks know by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from outlive.arena.devices import Device, known_devices


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Devices:
    """Devices by name; iterate over them."""

    devices: tuple[Device, ...]

    kind: ClassVar[str] = "devices"

    def __iter__(self) -> Iterator[Device]:
        """Each device."""
        return iter(self.devices)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.devices)

    def __getitem__(self, name: str) -> Device:
        """The device of that name; KeyError if there is none."""
        found = next((one for one in self.devices if name in (one.name, *one.aliases)), None)
        if found is None:
            raise KeyError(name)
        return found

    def __repr__(self) -> str:
        """How many, and the first names."""
        names = ", ".join(device.name for device in self.devices[:4])
        return f"<{len(self.devices)} devices: {names} ...>"


def devices() -> Devices:
    """List the devices that `device=` and `--device` know by name, your own .toml files included.

    >>> outlive.devices()["raspberry-pi-pico"].ram_bytes
    270336
    """
    return Devices(devices=tuple(known_devices()))
