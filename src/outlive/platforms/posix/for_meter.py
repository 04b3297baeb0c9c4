"""What the meters need of a platform."""

from outlive.platforms.posix.meter.activity import is_stopped, process_start, stands_still, watch_activity
from outlive.platforms.posix.meter.cgroups import (
    Cgroup,
    MemoryCgroup,
    find_cgroup_home,
    find_memory_cgroup,
    make_cgroup,
    oom_counter_file,
)
from outlive.platforms.posix.meter.machine_files import (
    FACT_SOURCES,
    find_container,
    has_nvidia_driver,
    is_root,
    process_group,
    read_boot_id,
    read_cpu_flags,
    read_machine,
    read_oom_counters,
    read_overcommit,
    read_ptrace_scope,
    read_rlimit,
    read_shared_memory,
    read_system_number,
)
from outlive.platforms.posix.meter.process_memory import cheap_sample, open_probe, read_sample
from outlive.platforms.posix.meter.task_limits import TaskWatch, find_limits, limited_folders, process_limit

__all__ = [
    "FACT_SOURCES", "Cgroup", "MemoryCgroup", "TaskWatch", "cheap_sample", "find_cgroup_home",
    "find_container", "find_limits", "find_memory_cgroup", "has_nvidia_driver", "is_root", "is_stopped",
    "limited_folders", "make_cgroup", "oom_counter_file", "open_probe", "process_group", "process_limit",
    "process_start", "read_boot_id", "read_cpu_flags", "read_machine", "read_oom_counters",
    "read_overcommit", "read_ptrace_scope", "read_rlimit", "read_sample", "read_shared_memory",
    "read_system_number", "stands_still", "watch_activity",
]  # fmt: skip
