"""HOW MUCH DID IT USE?

    pid ──> MemoryProbe ──> Sample ──> Sampler (a thread, from outside) ──> Timeline of Points: marks, peak
    machine, container, limits ──> MachineMemory        before and after ──> OomCounters
    limit ──> Cgroup (where the user may make one) ──> its peak, its out-of-memory kills

Nouns: a `Sample` is what a process holds at one moment; a `Point` the same above the baseline, with a time; a
`Timeline` all of them; `MachineMemory` what the machine has. Private bytes are anonymous pages that no
other process has: the mapped model file, which the kernel can drop and read again, is not among them.
Nothing here raises because a process is gone or a file of the kernel is missing or odd.
"""

from outlive.meter.machine import MachineMemory, OomCounters
from outlive.meter.operating_system import (
    FACT_SOURCES,
    Cgroup,
    MemoryCgroup,
    TaskWatch,
    cheap_sample,
    find_cgroup_home,
    find_container,
    find_limits,
    find_memory_cgroup,
    is_root,
    is_stopped,
    limited_folders,
    make_cgroup,
    oom_counter_file,
    open_probe,
    process_limit,
    process_start,
    read_boot_id,
    read_cpu_flags,
    read_machine,
    read_oom_counters,
    read_overcommit,
    read_ptrace_scope,
    read_rlimit,
    read_sample,
    read_shared_memory,
    read_system_number,
    stands_still,
    watch_activity,
)
from outlive.meter.sample import MemoryProbe, Sample
from outlive.meter.sampler import Sampler, Watch
from outlive.meter.timeline import Point, Rise, Timeline, how_it_rose, thin

__all__ = [
    "FACT_SOURCES", "Cgroup", "MachineMemory", "MemoryCgroup", "MemoryProbe", "OomCounters", "Point",
    "Rise", "Sample", "Sampler", "TaskWatch", "Timeline", "Watch", "cheap_sample", "find_cgroup_home",
    "find_container", "find_limits", "find_memory_cgroup", "how_it_rose", "is_root", "is_stopped",
    "limited_folders", "make_cgroup", "oom_counter_file", "open_probe", "process_limit", "process_start",
    "read_boot_id", "read_cpu_flags", "read_machine", "read_oom_counters", "read_overcommit",
    "read_ptrace_scope", "read_rlimit", "read_sample", "read_shared_memory", "read_system_number",
    "stands_still", "thin", "watch_activity",
]  # fmt: skip

PUBLIC_MODULES = ("gpu",)
