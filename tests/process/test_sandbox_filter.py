"""The filter of system calls, run by a small machine of our own for both architectures."""

from __future__ import annotations

import errno
import itertools
import re
import struct
from pathlib import Path

import pytest

from outlive.platforms.posix.child import syscalls
from outlive.platforms.posix.child.syscall_filter import for_process, make_filter

X86, ARM = 0xC000003E, 0xC00000B7  # linux/audit.h: AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64
I386, X32_BIT = 0x40000003, 0x40000000
ARCHITECTURES = {"x86_64": X86, "aarch64": ARM}
PID = 4711
TABLES = (
    syscalls.ABSENT,
    syscalls.PROCESSES,
    syscalls.TALK,
    syscalls.FILES,
    syscalls.MACHINE,
    syscalls.OF_MODELS,
    syscalls.LOOKED_AT,
)
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
# What a healthy worker does all the time: numbers by hand from the same headers, x86-64 and arm64.
EVERYDAY = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134),
    "pread64": (17, 67), "poll": (7, None), "ppoll": (271, 73), "mseal": (462, 462), "madvise": (28, 233),
    "sched_yield": (24, 124), "futex": (202, 98), "exit_group": (231, 94), "ftruncate": (77, 46),
    "getpid": (39, 172), "sched_getaffinity": (204, 123), "getrandom": (318, 278),
    "clock_gettime": (228, 113), "mremap": (25, 216), "rseq": (334, 293),
}  # fmt: skip

# What must not be answered, whatever the tables say; numbers by hand too.
FORBIDDEN = {
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "clone3": (435, 435), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "kcmp": (312, 272), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "socket": (41, 198),
    "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "userfaultfd": (323, 282), "bpf": (321, 280), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "perf_event_open": (298, 241), "mount": (165, 40), "setns": (308, 268), "unshare": (272, 97),
    "keyctl": (250, 219), "add_key": (248, 217), "chroot": (161, 51), "openat2": (437, 437),
    "open_tree": (428, 428), "unlinkat": (263, 35), "renameat2": (316, 276), "fchmodat": (268, 53),
    "fchownat": (260, 54), "setxattr": (188, 5), "truncate": (76, 45), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "setpriority": (141, 140),
    "init_module": (175, 105), "kexec_load": (246, 104), "reboot": (169, 142),
    "open_by_handle_at": (304, 265),
}  # fmt: skip


def judge(program: bytes, arch: int, number: int, *arguments: int) -> str | int:
    """What the program says: "allow", or the error that it gives. Classic BPF, from linux/filter.h."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    lines = list(struct.iter_unpack("<HBBI", program))
    at, held = 0, 0
    for _ in range(4096):
        code, if_true, if_false, constant = lines[at]
        at += 1
        if code == 0x20:  # BPF_LD | BPF_W | BPF_ABS
            held = struct.unpack_from("<I", data, constant)[0]
        elif code == 0x54:  # BPF_ALU | BPF_AND | BPF_K
            held &= constant
        elif code in (0x15, 0x35):  # BPF_JMP | BPF_JEQ, BPF_JGE
            at += if_true if (held == constant if code == 0x15 else held >= constant) else if_false
        elif code == 0x06:  # BPF_RET | BPF_K
            return "allow" if constant == 0x7FFF0000 else constant & 0xFFFF
        else:
            raise AssertionError(f"an instruction that nobody expects: {code:#x}")
    raise AssertionError("the program does not end")


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def filter_for(machine: str, for_model: bool = True) -> bytes:
    return for_process(make_filter(machine, for_model), PID)


def test_the_program_is_one_that_the_kernel_takes(machine: str) -> None:
    program = filter_for(machine)
    lines = list(struct.iter_unpack("<HBBI", program))
    assert len(lines) <= 4096  # linux/bpf_common.h: BPF_MAXINSNS
    jumps = [(at, max(true, false)) for at, (code, true, false, _) in enumerate(lines) if code & 0x07 == 0x05]
    assert all(at + 1 + furthest < len(lines) for at, furthest in jumps)
    assert lines[-1][0] == 0x06
    assert struct.pack("<I", PID) in program


def test_what_is_never_allowed_is_refused_whatever_its_arguments(machine: str) -> None:
    program, arch = filter_for(machine), ARCHITECTURES[machine]
    for table in TABLES[:-1]:
        wanted = errno.ENOSYS if table is syscalls.ABSENT else errno.EPERM
        for name, number in syscalls.numbers(table, machine).items():
            for argument in (0, PID, 2**64 - 1):
                assert judge(program, arch, number, *[argument] * 6) == wanted, name


def test_what_must_not_be_answered_is_not(machine: str) -> None:
    program, arch = filter_for(machine), ARCHITECTURES[machine]
    for name, numbers in FORBIDDEN.items():
        number = numbers[list(ARCHITECTURES).index(machine)]
        assert number is None or judge(program, arch, number, *[0] * 6) != "allow", name


def test_everyday_calls_are_allowed(machine: str) -> None:
    program, arch = filter_for(machine), ARCHITECTURES[machine]
    for name, numbers in EVERYDAY.items():
        number = numbers[list(ARCHITECTURES).index(machine)]
        assert number is None or judge(program, arch, number, *[7] * 6) == "allow", name


def test_all_that_is_not_named_is_allowed_and_what_is_newer_does_not_exist(machine: str) -> None:
    program, arch = filter_for(machine), ARCHITECTURES[machine]
    named = set(itertools.chain(*(syscalls.numbers(table, machine).values() for table in TABLES)))
    for number in range(syscalls.FIRST_UNKNOWN):
        assert number in named or judge(program, arch, number) == "allow", number
    for number in (syscalls.FIRST_UNKNOWN, 467, 1000, X32_BIT, X32_BIT | 57, X32_BIT | 1, 2**32 - 1):
        assert judge(program, arch, number) == errno.ENOSYS, number


def test_calls_of_another_architecture_do_not_exist(machine: str) -> None:
    program = filter_for(machine)
    for arch in {X86, ARM, I386} - {ARCHITECTURES[machine]}:
        assert {judge(program, arch, number) for number in range(500)} == {errno.ENOSYS}


def verdict(machine: str, name: str, *arguments: int, for_model: bool = True) -> str | int:
    number = syscalls.numbers(",".join(TABLES), machine)[name]
    return judge(filter_for(machine, for_model), ARCHITECTURES[machine], number, *arguments)


@pytest.mark.parametrize("name", ["kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"])
def test_signals_go_to_oneself_only(machine: str, name: str) -> None:
    assert verdict(machine, name, PID, 6) == "allow"
    # The kernel takes an int: what stands above it is no other process.
    assert verdict(machine, name, 2**32 + PID, 6) == "allow"
    for process in (0, 1, PID + 1, 2**32 - 1, 2**64 - 1, (-PID) % 2**32):
        assert verdict(machine, name, process, 9) == errno.EPERM, process


def test_threads_are_allowed_and_processes_and_namespaces_are_not(machine: str) -> None:
    of_glibc = 0x3D0F00  # CLONE_VM|FS|FILES|SYSVSEM|SIGHAND|THREAD|SETTLS|PARENT_SETTID|CHILD_CLEARTID
    assert verdict(machine, "clone", of_glibc) == "allow"
    of_fork, of_vfork = 0x1200011, 0x4111  # CHILD_CLEARTID|CHILD_SETTID|SIGCHLD, VFORK|VM|SIGCHLD
    for flags in (0, of_fork, of_vfork, of_glibc | 0x40000000, of_glibc | 0x10000000, of_glibc | 0x00020000):
        assert verdict(machine, "clone", flags) == errno.EPERM, hex(flags)


def test_files_are_opened_for_reading_only(machine: str) -> None:
    read_only, cloexec, directory, path = 0, 0o2000000, 0o200000, 0o10000000
    for flags in (read_only, cloexec, cloexec | directory, path):
        assert verdict(machine, "openat", 2**64 - 100, 0, flags) == "allow"
    for flags in (0o1, 0o2, 0o100, 0o1000, 0o1 | 0o100 | cloexec, 0o3, 0o20000000 | directory | 0o2):
        assert verdict(machine, "openat", 2**64 - 100, 0, flags) == errno.EACCES, oct(flags)
    if machine == "x86_64":
        assert [verdict(machine, "open", 0, flags) for flags in (0, 0o1)] == ["allow", errno.EACCES]


def test_limits_may_be_read_and_not_set(machine: str) -> None:
    assert verdict(machine, "prlimit64", 0, 7, 0, 0x7000) == "allow"
    for new in (0x7000, 1 << 40):
        assert verdict(machine, "prlimit64", 0, 7, new, 0) == errno.EPERM
    # A guarded function's worker sets its own, before each call.
    assert verdict(machine, "prlimit64", 0, 2, 0x7000, for_model=False) == "allow"
    assert verdict(machine, "prlimit64", 1, 2, 0x7000, for_model=False) == errno.EPERM
    assert verdict(machine, "memfd_create", 0, for_model=False) == "allow"


def test_no_setting_of_another_process_is_changed(machine: str) -> None:
    seen = [verdict(machine, "sched_setaffinity", process) for process in (0, PID, 1)]
    assert seen == ["allow", "allow", errno.EPERM]


def test_some_options_are_refused(machine: str) -> None:
    for name, argument, refused, allowed in (
        ("prctl", 0, (1, 4, 36, 0x59616D61), (15, 38, 0x53564D41, 3)),
        ("ioctl", 1, (0x5412, 0x541C), (0x5401, 0x541B)),
        ("fcntl", 1, (8, 10, 15), (1, 2, 3, 4, 1030, 1034)),
    ):
        for value in (*refused, *allowed):
            arguments = [0] * argument + [value]
            assert verdict(machine, name, *arguments) == (errno.EPERM if value in refused else "allow"), value


def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"needs the kernel's headers, {header}: apt install linux-libc-dev")
    pattern = r"#define\s+__NR(?:3264)?_(\w+)\s+(\d+)"
    known = {name: int(number) for name, number in re.findall(pattern, header.read_text())}
    ours = syscalls.numbers(",".join(TABLES), machine)
    newest = max(known.values())
    for name, number in ours.items():
        assert known.get(name, number if number > newest else None) == number, name
    # What the headers have and a column says that there is not would be a hole.
    other = syscalls.numbers(",".join(TABLES), "x86_64" if machine == "aarch64" else "aarch64")
    assert not {name for name in other if name in known and name not in ours}
