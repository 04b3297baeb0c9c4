"""the microcontroller stopped with a fault

What it checks
    The registers and words that ESP-IDF, Zephyr, mbed and CMSIS print: panics, hard faults, stack
    overflows, watchdogs.

Why it matters
    The dump names addresses, no source lines. Mostly memory was not there: a failed allocation, a small
    stack, an arena that was never set up.

What to do
    Decode the backtrace with addr2line, test what allocations return, and stop when AllocateTensors()
    fails.

Limits
    Addresses are turned into lines only with the firmware's own ELF file.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

microcontroller_fault = rule("D531", "microcontroller-fault", Severity.ERROR, since="0.2")(
    tell_from_log("D531")
)
