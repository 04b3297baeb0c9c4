"""What the program that starts workers needs of a platform; CONTRIBUTING.md says what each name does."""

from pathlib import Path

from outlive.platforms.posix.child.anonymous_files import log_file, open_last_words, read_last_words, tail_of
from outlive.platforms.posix.child.own_process import open_process, trim_heap
from outlive.platforms.posix.child.segment_memory import check_segment, make_private, new_segment
from outlive.platforms.posix.child.tracing.demangle import demangle
from outlive.platforms.posix.process.answer_wait import AdaptiveWait, this_core, wait_mode
from outlive.platforms.posix.process.descriptors import (
    above_standard,
    close_all,
    lock_file,
    open_private,
    read_into,
    unlock_file,
    user_id,
    write_at,
)
from outlive.platforms.posix.process.nursery_client import Nursery, abandon_all, can_fork
from outlive.platforms.posix.process.pipes import Channel, Connection, quiet_write
from outlive.platforms.posix.process.shared_block import Addresses, SharedBlock, lay_out
from outlive.platforms.posix.process.spawning import (
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
from outlive.platforms.posix.process.system_calls import (
    BLIND,
    READABLE,
    WRITABLE,
    poll,
    read,
    set_nonblocking,
    wait,
    write,
)

# Programs that try in a throwaway process what this system allows: a file, and a role of `child/start.py`.
CAPABILITY_TRIAL = str(Path(__file__).with_name("child") / "capability_trial.py")
SANDBOX_TRIAL = "platforms.posix.child.sandbox_trial"

__all__ = [
    "BLIND", "CAPABILITY_TRIAL", "READABLE", "SANDBOX_TRIAL", "TRACES_KERNELS", "WATCHES_KERNELS", "WRITABLE",
    "AdaptiveWait", "Addresses", "Channel", "Connection", "Nursery", "SharedBlock", "abandon_all", "abort",
    "above_standard", "at_fork", "bury", "can_fork", "check_segment", "close_all", "demangle", "disown",
    "end_group", "exit_codes_are_lost", "interrupt", "lay_out", "lock_file", "log_file", "make_private",
    "new_segment", "open_last_words", "open_private", "open_process", "poll", "quiet_write", "read",
    "read_into", "read_last_words", "set_nonblocking", "spawn", "start_in_session", "starting", "tail_of",
    "this_core", "trim_heap", "unlock_file", "user_id", "wait", "wait_for_end", "wait_mode", "write",
    "write_at",
]  # fmt: skip
