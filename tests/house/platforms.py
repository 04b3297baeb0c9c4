"""What only POSIX systems have is asked for in a few packages, so that another platform is a package too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.modules import Module, read_modules

# Packages that are about one platform.
POSIX_PACKAGES = ("process/posix/", "process/child/posix/", "process/child/tracing/", "meter/linux/")
# The one module beside them that names something that only POSIX systems have, and why; never a package.
EXCEPTIONS = {
    "system_features.py": "lies below process and meter; each function has an answer on every system",
}
# The modules that choose the platform: what others need of a platform's package, they import from these.
CHOOSERS = ("process/operating_system.py", "process/child/operating_system.py", "meter/operating_system.py")
_CHOSEN = ("process.posix", "process.child.posix", "process.child.tracing", "meter.linux")
MODULES = frozenset({"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios"})
_OS = """
fork forkpty killpg WNOHANG WIFSIGNALED WIFSTOPPED WTERMSIG WEXITSTATUS WSTOPSIG memfd_create MFD_CLOEXEC
MFD_ALLOW_SEALING pidfd_open setpgid getpgid setsid getsid getpgrp uname sysconf geteuid getuid getgid mkfifo
openpty statvfs readv writev preadv pwritev pread pwrite posix_fallocate register_at_fork set_blocking
sched_getaffinity sched_setaffinity sched_yield setpriority O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_PATH O_NONBLOCK
"""
_SIGNAL = """
SIGKILL SIGSTOP SIGCONT SIGCHLD SIGPIPE SIGHUP SIGUSR1 SIGUSR2 SIGBUS SIGSYS SIGTRAP SIGQUIT SIGALRM SIGTSTP
pthread_sigmask sigtimedwait set_wakeup_fd setitimer alarm
"""
_SOCKET = "AF_UNIX SOCK_SEQPACKET SCM_RIGHTS CMSG_SPACE MSG_NOSIGNAL"
ATTRIBUTES = frozenset(
    f"{module}.{name}"
    for module, names in {"os": _OS, "signal": _SIGNAL, "socket": _SOCKET}.items()
    for name in names.split()
)
PATTERNS = re.compile(r"select\.(e?poll|kqueue|POLL\w+)|mmap\.(MAP|PROT|MADV)_\w+")
PATHS = re.compile(r"/(proc|sys)(/|$)|/dev/shm|/dev/fd")
KEYWORDS = frozenset({"pass_fds", "preexec_fn", "start_new_session"})


def posix_names(package: Path) -> list[str]:
    """Names and paths that only POSIX systems have, outside of the packages that are about them."""
    return [
        f"{module.at(line)}: {name} is not on every platform (see EXCEPTIONS in tests/house/platforms.py)"
        for module in read_modules(package)
        if not _is_excepted(module.path.relative_to(package).as_posix())
        for line, name in _found(module)
    ]


def stale_exceptions(package: Path) -> list[str]:
    """Exceptions that nothing needs any more."""
    users = {
        module.path.relative_to(package).as_posix()
        for module in read_modules(package)
        if next(_found(module), None)
    }
    return [entry for entry in EXCEPTIONS if not any(path.startswith(entry) for path in users)]


def imports_past_the_choice(package: Path) -> list[str]:
    """Imports of a platform's package by a module that is of no platform."""
    chosen = tuple(f"{package.name}.{name}" for name in _CHOSEN)
    return [
        f"{module.at(line)}: import {target} through the module that chooses the platform"
        for module in read_modules(package)
        if not module.path.relative_to(package).as_posix().startswith((*POSIX_PACKAGES, *CHOOSERS))
        for line, target in module.imports
        if target.startswith(chosen)
    ]


def _is_excepted(path: str) -> bool:
    return path.startswith((*POSIX_PACKAGES, *EXCEPTIONS))


def _found(module: Module) -> Iterator[tuple[int, str]]:
    texts = {id(node) for node in _docstrings(module)}
    for node in module.nodes:
        if id(node) not in texts:
            yield from ((getattr(node, "lineno", 0), name) for name in _names(node))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        name = ast.unparse(node)
        if name in ATTRIBUTES or PATTERNS.fullmatch(name):
            yield name
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield from (name for name in _imported(node) if name in MODULES | ATTRIBUTES)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and PATHS.match(node.value):
        yield node.value
    elif isinstance(node, ast.keyword) and node.arg in KEYWORDS:
        yield str(node.arg)
    elif isinstance(node, ast.Call) and ast.unparse(node).startswith(("ctypes.CDLL(None", "CDLL(None")):
        yield "CDLL(None)"


def _imported(node: ast.ImportFrom) -> Iterator[str]:
    yield node.module or ""
    yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _docstrings(module: Module) -> Iterator[ast.AST]:
    for node in module.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
