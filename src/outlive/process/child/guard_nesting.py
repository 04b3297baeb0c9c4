"""What a guarded worker knows of guards inside guards: how deep it is, and whether it reads what it was sent.

To read a function is to import its module. A guarded call among the statements of that module would start a
worker, which would import the module and start a worker, without end: guards in a worker look here first.
"""

from __future__ import annotations

depth = 0  # how many callers stand above this process
reading = False
