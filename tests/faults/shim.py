"""Makes one operating-system call of outlive fail: a thin layer over the calls, here and in child processes.

A site is a function and the lines of outlive that lead to it. While sites are recorded, each call that
outlive makes appends its site to a file; while one is armed, its n-th call fails with the error given. Both
live in a folder that all processes of a trial share: a site in a nursery or a worker is reached like ours.

Standard library only, Python 3.8 and later: it is loaded by `customize/sitecustomize.py` in every process.
"""

import builtins
import errno
import fcntl
import hashlib
import io
import mmap
import os
import posix
import select
import socket
import struct
import subprocess
import sys
import threading

FOLDER_VARIABLE = "OUTLIVE_TEST_FAULTS"
FRAMES = 5  # how many lines of outlive make a site
_MARK = os.sep + os.path.join("src", "outlive") + os.sep
_LAYOUT = struct.Struct("=IiII16s")  # mode, errno, calls still to let pass, failures, site
_ONCE, _RECORD, _STAYS = 1, 2, 3
_SIZE = 4096
_FAR = 900
_IMPORTERS = ("importlib", "<frozen importlib", "zipimport")

# What each call may answer when the system has nothing left to give. EINTR is not among them: Python itself
# calls again (PEP 475). Not close, unlink and rmdir: what cannot be given back stays, whoever asks.
ERRORS = {
    "open": (errno.EMFILE, errno.EIO),
    "io.FileIO": (errno.EMFILE, errno.EIO),
    "io.FileIO.read": (errno.EIO,),
    "io.FileIO.readinto": (errno.EIO,),
    "os.open": (errno.EMFILE, errno.ENOMEM),
    "os.pipe": (errno.EMFILE,),
    "os.pipe2": (errno.EMFILE,),
    "os.read": (errno.EIO,),
    "os.readv": (errno.EIO,),
    "os.pread": (errno.EIO,),
    "os.preadv": (errno.EIO,),
    "os.write": (errno.ENOSPC, errno.EIO),
    "os.writev": (errno.ENOSPC,),
    "os.pwrite": (errno.ENOSPC,),
    "os.fork": (errno.EAGAIN, errno.ENOMEM),
    "os.posix_spawn": (errno.EAGAIN,),
    "os.memfd_create": (errno.EMFILE, errno.ENOMEM),
    "os.pidfd_open": (errno.EMFILE,),
    "os.eventfd": (errno.EMFILE,),
    "os.rename": (errno.EIO,),
    "os.replace": (errno.EIO,),
    "os.truncate": (errno.EIO,),
    "os.ftruncate": (errno.ENOSPC,),
    "os.posix_fallocate": (errno.ENOSPC,),
    "os.dup": (errno.EMFILE,),
    "os.dup2": (errno.EMFILE,),
    "os.listdir": (errno.EMFILE,),
    "os.scandir": (errno.EMFILE,),
    "os.stat": (errno.EIO,),
    "os.fstat": (errno.EIO,),
    "os.lseek": (errno.EIO,),
    "os.mkdir": (errno.ENOSPC,),
    "os.link": (errno.ENOSPC,),
    "os.fsync": (errno.EIO,),
    "fcntl.fcntl": (errno.ENOMEM,),
    "fcntl.flock": (errno.ENOLCK,),
    "fcntl.ioctl": (errno.EIO,),
    "mmap.mmap": (errno.ENOMEM,),
    "poll": (errno.ENOMEM,),
    "select.epoll": (errno.EMFILE,),
    "socket.socketpair": (errno.EMFILE,),
    "socket.socket.send": (errno.ENOBUFS,),
    "socket.socket.sendall": (errno.ENOBUFS,),
    "socket.socket.sendmsg": (errno.ENOBUFS, errno.ETOOMANYREFS),
    "socket.socket.recv": (errno.ENOMEM,),
    "socket.socket.recvmsg": (errno.ENOMEM,),
    "subprocess.fork_exec": (errno.EAGAIN,),
    "thread": (errno.EAGAIN,),
}

_write, _open, _get_pid = os.write, os.open, os.getpid
_real_poll, _real_mmap, _real_file = select.poll, mmap.mmap, io.FileIO


class Switchboard:
    """The folder that all processes of a trial share: what is recorded, and what is to fail."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.recording = os.path.join(folder, "recording")
        descriptor = _open(os.path.join(folder, "switch"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.truncate(descriptor, _SIZE)
        self._switch = _real_mmap(descriptor, _SIZE)
        os.close(descriptor)
        self.owner = int(os.environ.setdefault(FOLDER_VARIABLE + "_PID", str(os.getpid())))
        self._kept = -1 if os.getpid() == self.owner else self._keep_recording()

    def arm(self, site: str, number: int, nth: int, stays: bool) -> None:
        """Have the n-th call from a site fail; those after it too, if the fault stays."""
        _LAYOUT.pack_into(self._switch, 0, _STAYS if stays else _ONCE, number, nth - 1, 0, _digest(site))

    def record(self) -> None:
        """Have all sites written down."""
        _LAYOUT.pack_into(self._switch, 0, _RECORD, 0, 0, 0, b"")

    def rest(self) -> int:
        """Let all calls pass; how many have failed."""
        failures = _LAYOUT.unpack_from(self._switch)[3]
        _LAYOUT.pack_into(self._switch, 0, 0, 0, 0, 0, b"")
        return int(failures)

    def meet(self, name: str, arguments: "tuple[object, ...]" = ()) -> None:
        """What every call passes: raises if its time has come."""
        mode, number, passing, failures, wanted = _LAYOUT.unpack_from(self._switch)
        site = self._site(name) if mode else ""
        if site and mode == _RECORD:
            self._note(site)
        elif site and wanted == _digest(site):
            fails = not passing and (mode == _STAYS or not failures)
            _LAYOUT.pack_into(self._switch, 0, mode, number, max(passing - 1, 0), failures + fails, wanted)
            if fails:
                _fail(name, number, arguments)

    def _note(self, site: str) -> None:
        line = (site + "\n").encode()
        if self._kept >= 0:
            try:
                _write(self._kept, line)
                return
            except OSError:  # somebody has closed it, or it is another file by now
                self._kept = -1
        descriptor = self._open_recording()
        _write(descriptor, line)
        os.close(descriptor)

    def _open_recording(self) -> int:
        return _open(self.recording, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _keep_recording(self) -> int:
        """A worker in its sandbox opens nothing: its maker keeps the file open for it, out of the way."""
        descriptor = self._open_recording()
        try:
            return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FAR)
        except OSError:  # few descriptors are allowed
            return -1
        finally:
            os.close(descriptor)

    def _site(self, name: str) -> str:
        """Where this call comes from: nothing, if it is not from outlive."""
        lines = []
        frame = sys._getframe(2)
        if name in ("os.read", "open") and frame.f_back.f_code.co_filename.endswith("subprocess.py"):
            # Popen reads a pipe of its own and makes a file object of its end. Neither takes a descriptor nor
            # touches a disk, so neither fails; if one did, Popen would lose its child or the pipe.
            return ""
        while frame is not None and len(lines) < FRAMES:
            path = frame.f_code.co_filename
            if path.startswith(_IMPORTERS) or os.sep + "importlib" + os.sep in path:
                return ""
            place = path.find(_MARK)
            if place >= 0:
                lines.append(f"{path[place + len(_MARK) :]}:{frame.f_lineno}")
            frame = frame.f_back
        side = "here" if _get_pid() == self.owner else "child"
        return " ".join([side, name, *lines]) if lines else ""


def _digest(site: str) -> bytes:
    return hashlib.blake2b(site.encode(), digest_size=16).digest()


def _fail(name: str, number: int, arguments: "tuple[object, ...]") -> None:
    """As the call itself would say it: with the path, if it was given one."""
    if name == "thread":
        raise RuntimeError("can't start new thread")
    paths = [os.fspath(one) for one in arguments[:1] if isinstance(one, (str, bytes, os.PathLike))]
    raise OSError(number, os.strerror(number), *paths)


class Call:
    """A function that passes the switchboard first. Not a function: it stays what it is in a class body."""

    def __init__(self, board: Switchboard, name: str, function: object) -> None:
        self.board, self.name, self.function = board, name, function
        self.__name__ = name.rpartition(".")[2]
        self.__doc__ = getattr(function, "__doc__", "")

    def __call__(self, *arguments: object, **options: object) -> object:
        self.board.meet(self.name, arguments)
        return self.function(*arguments, **options)  # type: ignore[operator]


class Poll:
    """What `select.poll()` gives, whose waiting may fail."""

    def __init__(self, board: Switchboard) -> None:
        self._board, self._real = board, _real_poll()
        self.register, self.modify = self._real.register, self._real.modify
        self.unregister = self._real.unregister

    def poll(self, *arguments: object) -> object:
        self._board.meet("poll")
        return self._real.poll(*arguments)


def _method(board: Switchboard, name: str, real: object) -> object:
    def call(self: object, *arguments: object, **options: object) -> object:
        board.meet(name)
        return real(self, *arguments, **options)  # type: ignore[operator]

    return call


class _MapKind(type):
    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, _real_mmap)


class _FileKind(type(io.FileIO)):  # type: ignore[misc]
    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, _real_file)


def _map_class(board: Switchboard) -> type:
    class Map(_real_mmap, metaclass=_MapKind):
        def __new__(cls, *arguments: object, **options: object) -> "Map":
            board.meet("mmap.mmap")
            return super().__new__(cls, *arguments, **options)

    return Map


def _file_class(board: Switchboard) -> type:
    class File(io.FileIO, metaclass=_FileKind):
        def __init__(self, *arguments: object, **options: object) -> None:
            board.meet("io.FileIO", arguments)
            super().__init__(*arguments, **options)

        read = _method(board, "io.FileIO.read", io.FileIO.read)
        readinto = _method(board, "io.FileIO.readinto", io.FileIO.readinto)

    return File


def install() -> "Switchboard | None":
    """Put the layer in place, if a trial's folder is named; the switchboard."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    board = Switchboard(folder)
    for name in ERRORS:
        module, _, function = name.rpartition(".")
        home = {"os": os, "fcntl": fcntl, "socket": socket, "select": select}.get(module)
        if home is not None and hasattr(home, function):
            call = Call(board, name, getattr(home, function))
            setattr(home, function, call)
            if home is os:  # some of ours is taken from there: see platforms/posix/process/system_calls.py
                setattr(posix, function, call)
    for name in ("send", "sendall", "sendmsg", "recv", "recvmsg"):
        real = getattr(socket.socket, name)
        setattr(socket.socket, name, _method(board, "socket.socket." + name, real))
    builtins.open = io.open = Call(board, "open", io.open)  # type: ignore[assignment]
    mmap.mmap = _map_class(board)  # type: ignore[misc]
    io.FileIO = _file_class(board)  # type: ignore[misc]
    select.poll = lambda: Poll(board)  # type: ignore[assignment]
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = Call(board, "subprocess.fork_exec", subprocess._fork_exec)
    threading._start_new_thread = Call(board, "thread", threading._start_new_thread)
    return board
