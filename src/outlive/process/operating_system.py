"""The operating system under workers: everything above `posix` asks here, and only here.

A new platform is a package beside `posix` that offers these names, and one beside `child/posix`. It is chosen
in this file and in `child/operating_system.py`. CONTRIBUTING.md says what each name does.
"""

from outlive.process.child.posix.anonymous_files import log_file, open_last_words, read_last_words, tail_of
from outlive.process.child.posix.own_process import open_process, trim_heap
from outlive.process.child.posix.segment_memory import check_segment, make_private, new_segment
from outlive.process.posix.answer_wait import AdaptiveWait, this_core, wait_mode
from outlive.process.posix.descriptors import (
    above_standard,
    close_all,
    lock_file,
    open_private,
    read_into,
    unlock_file,
    user_id,
    write_at,
)
from outlive.process.posix.nursery_client import Nursery, abandon_all, can_fork
from outlive.process.posix.pipes import Channel, Connection, quiet_write
from outlive.process.posix.shared_block import Addresses, SharedBlock, lay_out
from outlive.process.posix.spawning import (
    TRACES_KERNELS,
    WATCHES_KERNELS,
    abort,
    at_fork,
    bury,
    disown,
    end_group,
    exit_codes_are_lost,
    interrupt,
    spawn,
    start_in_session,
    starting,
    wait_for_end,
)
from outlive.process.posix.system_calls import (
    BLIND,
    READABLE,
    WRITABLE,
    poll,
    read,
    set_nonblocking,
    wait,
    write,
)

# The package of child processes that goes with the above.
CHILD_PACKAGE = "posix"

__all__ = [
    "BLIND", "CHILD_PACKAGE", "READABLE", "TRACES_KERNELS", "WATCHES_KERNELS", "WRITABLE", "AdaptiveWait",
    "Addresses", "Channel", "Connection", "Nursery", "SharedBlock", "abandon_all", "abort", "above_standard",
    "at_fork", "bury", "can_fork", "check_segment", "close_all", "disown", "end_group",
    "exit_codes_are_lost", "interrupt", "lay_out", "lock_file", "log_file", "make_private", "new_segment",
    "open_last_words", "open_private", "open_process", "poll", "quiet_write", "read", "read_into",
    "read_last_words", "set_nonblocking", "spawn", "start_in_session", "starting", "tail_of", "this_core",
    "trim_heap", "unlock_file", "user_id", "wait", "wait_for_end", "wait_mode", "write", "write_at",
]  # fmt: skip
