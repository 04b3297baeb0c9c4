"""HOW MUCH DID IT USE?

    pid ──> Probe ──> Sample ──> Sampler (a thread, from outside) ──> Timeline of Points: marks, peak
    machine, container, limits ──> MachineMemory        before and after ──> OomCounters
    limit ──> Cgroup (where the user may make one) ──> its peak, its out-of-memory kills

Nouns: a `Sample` is what a process holds at one moment; a `Point` the same above the baseline, with a time; a
`Timeline` all of them; `MachineMemory` what there is to be had. Private bytes are anonymous pages that nobody
else has: the mapped model file, which the kernel can drop and read again, is not among them.
Nothing here raises because a process is gone or a file of the kernel is missing or odd.
"""

from __future__ import annotations

from outlive.meter.cgroup import Cgroup, find_cgroup_home, make_cgroup
from outlive.meter.hierarchy import MemoryCgroup, find_memory_cgroup, oom_counter_file
from outlive.meter.machine import MachineMemory, OomCounters, read_machine, read_oom_counters
from outlive.meter.sample import Probe, Sample, cheap_sample, read_sample
from outlive.meter.sampler import Sampler
from outlive.meter.timeline import Point, Rise, Timeline, how_it_rose, thin

__all__ = [
    "Cgroup",
    "MachineMemory",
    "MemoryCgroup",
    "OomCounters",
    "Point",
    "Probe",
    "Rise",
    "Sample",
    "Sampler",
    "Timeline",
    "cheap_sample",
    "find_cgroup_home",
    "find_memory_cgroup",
    "how_it_rose",
    "make_cgroup",
    "oom_counter_file",
    "read_machine",
    "read_oom_counters",
    "read_sample",
    "thin",
]
