"""What only POSIX systems have is asked for in one package, so that another platform is one package too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.modules import Module, read_modules

# The package that is about this platform.
POSIX = "platforms/posix/"
# The modules that offer a platform's package to the others.
CHOOSERS = (
    "process/operating_system.py",
    "process/child/operating_system.py",
    "meter/operating_system.py",
    "system_features.py",
)
# What outlive is in a child process lies above; a platform that imported it would load in one of both only.
STANDALONE = "platforms/posix/child/"
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
    """Names and paths that only POSIX systems have, outside of the package that is about them."""
    return [
        f"{module.at(line)}: {name} is not on every platform; platforms/ has what only one has"
        for module in read_modules(package)
        if not _path(module, package).startswith(POSIX)
        for line, name in _found(module)
    ]


def imports_past_the_choice(package: Path) -> list[str]:
    """Imports of a platform's package by a module that is of no platform."""
    chosen = f"{package.name}.platforms.posix"
    return [
        f"{module.at(line)}: import {target} through the module that offers the platform"
        for module in read_modules(package)
        if not _path(module, package).startswith((POSIX, *CHOOSERS))
        for line, target in module.imports
        if target.startswith(chosen)
    ]


def imports_out_of_child(package: Path) -> list[str]:
    """Imports by a platform's code of child processes of anything that lies elsewhere."""
    own = f"{package.name}.{STANDALONE.rstrip('/').replace('/', '.')}"
    return [
        f"{module.at(line)}: {target} is not there in a child process; it is to be handed in"
        for module in read_modules(package)
        if _path(module, package).startswith(STANDALONE)
        for line, target in module.imports
        if target.startswith(package.name) and not target.startswith(own)
    ]


def _path(module: Module, package: Path) -> str:
    return module.path.relative_to(package).as_posix()


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
