"""What a worker in a sandbox may not ask of Linux: system calls by number, with what each is refused for.

An entry is the call, its number on x86-64 and on arm64 ("-" where there is none). Numbers are those of Linux,
arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h; from 424 on they are the same.
"""

from __future__ import annotations

from typing import Dict, Tuple

# From here on are calls that are newer than this table. They are refused as an older kernel would do it, and
# with them on x86-64 all calls of the x32 kind, which have bit 30 set (asm/unistd.h, __X32_SYSCALL_BIT).
FIRST_UNKNOWN = 463

# Never answered: ENOSYS, because programs ask for these first and then do it the older way.
ABSENT = """
clone3 435 435, openat2 437 437, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427,
userfaultfd 323 282, bpf 321 280, perf_event_open 298 241, memfd_secret 447 447, fchmodat2 452 452
"""

# Never allowed: other programs and other processes.
PROCESSES = """
execve 59 221, execveat 322 281, fork 57 -, vfork 58 -, ptrace 101 117, kcmp 312 272,
process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440, process_mrelease 448 448,
pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, setpriority 141 140, ioprio_set 251 30,
sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274, migrate_pages 256 238,
move_pages 279 239
"""

# Never allowed: a way to talk to anybody.
TALK = """
socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semctl 66 191, semop 65 193, semtimedop 220 192,
msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180, mq_unlink 241 181,
keyctl 250 219, add_key 248 217, request_key 249 218
"""

# Never allowed: changes of files by name. Landlock knows no chmod, chown, utime and setxattr (landlock(7)).
FILES = """
creat 85 -, truncate 76 45, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -,
renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, mknod 133 -,
mknodat 259 33, chmod 90 -, fchmod 91 52, fchmodat 268 53, chown 92 -, lchown 94 -, fchown 93 55,
fchownat 260 54, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15,
fremovexattr 199 16, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
open_by_handle_at 304 265, name_to_handle_at 303 264, fanotify_init 300 262, fanotify_mark 301 263
"""

# Never allowed: what belongs to the machine. A user may not do it, and root in a container may.
MACHINE = """
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, move_mount 429 429, open_tree 428 428,
fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442, setns 308 268,
unshare 272 97, init_module 175 105, finit_module 313 273, delete_module 176 106, kexec_load 246 104,
kexec_file_load 320 294, reboot 169 142, swapon 167 224, swapoff 168 225, sethostname 170 161,
setdomainname 171 162, acct 163 89, quotactl 179 60, quotactl_fd 443 443, syslog 103 116, iopl 172 -,
ioperm 173 -, modify_ldt 154 -, uselib 134 -, personality 135 92, settimeofday 164 170, clock_settime 227 112,
clock_adjtime 305 266, adjtimex 159 171, vhangup 153 58, lookup_dcookie 212 18, lsm_set_self_attr 460 460
"""

# Not allowed to a model's worker. A guarded function's worker sends large results through such memory, and
# sets its own limit for each call.
OF_MODELS = "memfd_create 319 279, setrlimit 160 164"

# Allowed with some arguments: see `sandbox`.
LOOKED_AT = """
kill 62 129, tgkill 234 131, tkill 200 130, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
prlimit64 302 261, sched_setaffinity 203 122, clone 56 220, open 2 -, openat 257 56, prctl 157 167,
ioctl 16 29, fcntl 72 25
"""

# As `platform.machine()` names it -> the column of the tables, and its AUDIT_ARCH (linux/audit.h).
MACHINES = {"x86_64": (1, 0xC000003E), "aarch64": (2, 0xC00000B7)}


def numbers(table: str, machine: str) -> Dict[str, int]:
    """The calls of a table that this kind of machine has."""
    column = MACHINES[machine][0]
    rows: list[Tuple[str, ...]] = [tuple(row.split()) for row in table.replace("\n", " ").split(",") if row]
    return {row[0]: int(row[column]) for row in rows if row and row[column] != "-"}
