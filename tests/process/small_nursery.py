"""A nursery of a few lines, run as a program: forks one traced child per case, and says how each ended.

    python small_nursery.py CHILD_FOLDER MODEL CASE...    ->  JSON: one entry per case, and what is left

The loop is the one that `tracer.py` asks its users to write. Standard library only, as what it tests.
"""

import ctypes
import faulthandler
import importlib.util
import json
import os
import signal
import sys
import threading
import time

WALL = 0x40000000  # linux/wait.h
PR_SET_DUMPABLE = 4  # linux/prctl.h
DEADLINE_S = 300.0


def load(folder):
    spec = importlib.util.spec_from_file_location(
        "outlive_child", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["outlive_child"] = package
    spec.loader.exec_module(package)


class Cases:
    """What a child does; it is seized before it begins."""

    def __init__(self, model):
        self.model = model

    def deadly(self):
        from ai_edge_litert.interpreter import Interpreter

        interpreter = Interpreter(model_path=self.model)
        interpreter.allocate_tensors()
        interpreter.invoke()

    deadly_stripped = deadly

    def abort(self):
        os.abort()

    def divide(self):
        os.kill(os.getpid(), signal.SIGFPE)

    def thread(self):
        thread = threading.Thread(target=ctypes.string_at, args=(0,))
        thread.start()
        thread.join()

    def nowhere(self):
        ctypes.CFUNCTYPE(None)(8)()

    def nowhere_unwatched(self):
        faulthandler.disable()
        self.nowhere()

    def stop(self):
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(7)

    def handle(self):
        seen = []
        for name in ("SIGUSR1", "SIGCHLD", "SIGSEGV"):
            signal.signal(getattr(signal, name), lambda number, _: seen.append(number))
            os.kill(os.getpid(), getattr(signal, name))
        signal.signal(signal.SIGTRAP, signal.SIG_IGN)
        os.kill(os.getpid(), signal.SIGTRAP)
        os._exit(40 + len(seen))

    def many_threads(self):
        for _ in range(40):
            thread = threading.Thread(target=time.sleep, args=(0.001,))
            thread.start()
            thread.join()
        os._exit(9)

    def grandchild(self):
        child = os.fork()
        if not child:
            os.abort()
        os._exit(os.WTERMSIG(os.waitpid(child, 0)[1]))

    def leave(self):
        os._exit(3)

    def killed(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def hidden(self):
        os.abort()


def run_child(action, go):
    os.read(go, 1)
    # Standard error may not be ours to write to; where the report goes does not matter here.
    with open(os.devnull, "w") as nowhere:
        faulthandler.enable(nowhere)
        try:
            action()
        finally:
            os._exit(99)


def hide():
    """Make this process one that even its parent may not trace, unless that is root."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def start(action):
    go, started = os.pipe()
    process = os.fork()
    if not process:
        os.close(started)
        run_child(action, go)
    os.close(go)
    return process, started


libraries_read = [0]


def count_libraries(symbols):
    """Count how often the tracer reads a library's tables: that is what a death costs."""
    real = symbols.Library.__init__

    def read(self, path):
        libraries_read[0] += 1
        real(self, path)

    symbols.Library.__init__ = read


def trace(name, cases, tracer, the_tracer):
    if name == "hidden":
        hide()
    process, started = start(getattr(cases, name))
    refused = tracer.seize(process)
    os.write(started, b"g")
    os.close(started)
    read_before = libraries_read[0]
    status, threads, stood_still = wait_for(process, the_tracer)
    return {
        "case": name,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        "exit_code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "refused": refused,
        "evidence": the_tracer.evidence(process),
        "libraries_read": libraries_read[0] - read_before,
        "other_ends": threads,
        "stood_still": stood_still,
        "process": process,
    }


def wait_for(process, the_tracer):
    """Serve stops until the process ends.

    Returns how it ended, how many of its threads ended, whether it stood still.
    """
    threads, stood_still, deadline = 0, False, time.monotonic() + DEADLINE_S
    while True:
        task, status = os.waitpid(-1, os.WNOHANG | WALL)
        if not task:
            stood_still = wake_or_end(process, deadline) or stood_still
        elif os.WIFSTOPPED(status):
            the_tracer.handle(task, status)
        elif task == process:
            return status, threads, stood_still
        else:
            threads += 1


def wake_or_end(process, deadline):
    """Wake a child that stands still, kill one that takes too long; whether it stood still."""
    time.sleep(0.001)
    with open(f"/proc/{process}/stat") as file:
        state = file.read().rpartition(")")[2].split()[0]
    if time.monotonic() > deadline:
        os.kill(process, signal.SIGKILL)
    elif state in "tT":  # nothing is waiting to be handled, so it stands still because it was told to
        os.kill(process, signal.SIGCONT)
    return state in "tT"


def main():
    folder, model, *names = sys.argv[1:]
    load(folder)
    from outlive_child import running_op
    from outlive_child.platforms.posix.child.tracing import symbols, tracer

    if any(name.startswith("deadly") for name in names):
        import ai_edge_litert.interpreter  # noqa: F401  as a nursery does

    count_libraries(symbols)
    the_tracer = tracer.Tracer(running_op.identify)
    results = []
    for name in names:
        if name.endswith("_stripped"):
            symbols.lookup = lambda *_: None
        results.append(trace(name, Cases(model), tracer, the_tracer))
    try:
        os.waitpid(-1, os.WNOHANG | WALL)
        left = True
    except ChildProcessError:
        left = False
    kept = sum(len(value) for value in vars(the_tracer).values() if not callable(value))
    print(json.dumps({"results": results, "children_left": left, "kept": kept}))


if __name__ == "__main__":
    main()
