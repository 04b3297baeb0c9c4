"""Microcontroller fault

What it checks
    The log contains no panic, hard fault, stack overflow or watchdog message of ESP-IDF, Zephyr, mbed
    or CMSIS.

Why it matters
    The dump contains addresses, not source lines. In most cases memory is missing: a failed allocation,
    a small stack, an arena that was not initialized.

What to do
    Decode the backtrace with addr2line, check the result of each allocation, and stop when
    AllocateTensors() fails.

Limits
    outlive resolves addresses to lines only with the ELF file of the firmware.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

microcontroller_fault = rule("D531", "microcontroller-fault", Severity.ERROR, since="0.2")(
    tell_from_log("D531")
)
