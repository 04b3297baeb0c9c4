"""How much memory this process may really use: the machine's, less what containers and limits take away."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineMemory:
    """RAM, swap and every limit on this process's memory; None where there is none, or it is unknown.

    `cgroup_used_bytes` is what counts against the tightest cgroup's limit, reclaimable file pages left out.
    `cgroup_version` is 0 where no cgroup controls memory. `oom_spares_others` is True where the system, out
    of memory, ends the one process that offered itself; False where that is unknown, or a container ends as
    a whole.
    """

    total_bytes: int | None
    available_bytes: int | None
    swap_total_bytes: int | None
    swap_free_bytes: int | None
    cgroup_version: int = 0
    cgroup_limit_bytes: int | None = None
    cgroup_high_bytes: int | None = None
    cgroup_used_bytes: int | None = None
    rlimit_as_bytes: int | None = None
    rlimit_data_bytes: int | None = None
    container: str = ""
    oom_spares_others: bool = False

    def limits(self) -> dict[str, int]:
        """Every limit there is, by name."""
        known = {
            "RAM": self.total_bytes,
            "cgroup": self.cgroup_limit_bytes,
            "RLIMIT_AS": self.rlimit_as_bytes,
            "RLIMIT_DATA": self.rlimit_data_bytes,
        }
        return {name: size for name, size in known.items() if size is not None}

    def usable_bytes(self) -> int | None:
        """The most this process could ever use: the smallest of RAM, cgroup and rlimits; None if unknown.

        Swap is not counted: a model that runs from swap does not run. What happens to be free now is not
        asked either: the kernel makes room by dropping file pages, and the answer would change by the second.
        """
        return min(self.limits().values(), default=None)

    def known(self) -> dict[str, int | str]:
        """What is known, as plain data."""
        names = (name for name in self.__slots__ if name != "oom_spares_others")
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "")}

    def limited_by(self) -> str:
        """Which limit `usable_bytes` gives: "RAM", "cgroup", "RLIMIT_AS", "RLIMIT_DATA", or "" if none."""
        return min(self.limits().items(), key=lambda item: item[1], default=("", 0))[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OomCounters:
    """How often memory ran out and something was killed for it; None where the system keeps no such count."""

    cgroup_oom: int | None = None
    cgroup_oom_kill: int | None = None
    machine_oom_kill: int | None = None
