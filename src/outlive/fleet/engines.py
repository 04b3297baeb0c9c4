"""Who does the work: processes of this machine, or a Dask or Ray cluster. The engine is the user's."""

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any

from outlive.fleet.local_engine import Examine, LocalEngine
from outlive.fleet.rows import EngineError, Row, ScanTask

_CONNECT_S = 15
# For engines that answer only when all of a call is done: how many tasks for each process are one call.
_WAVE = 12
_ALLOWED_FAILURES = "distributed.scheduler.allowed-failures"
_SPAWN_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
_DEFAULT_PORTS = {"dask": 8786, "ray": 10001}


@dataclass(frozen=True, slots=True, kw_only=True)
class JoblibEngine:
    """An engine that is ready: how joblib is asked for it, and how many tasks it does at the same time."""

    name: str
    jobs: int
    streams: bool
    options: dict[str, Any] = field(default_factory=dict)
    backend: Callable[[], Any] | None = None

    def results(self, examine: Examine, tasks: Iterator[ScanTask]) -> Iterator[Row]:
        """The rows of the tasks as they come. Whatever is raised here is the engine's doing."""
        from joblib import delayed

        calls = (delayed(examine)(task) for task in tasks)
        if self.streams:
            yield from _quietly(self._parallel("generator_unordered")(calls))
            return
        with self._parallel("list") as parallel:  # the same processes for all waves
            while wave := list(islice(calls, self.jobs * _WAVE)):
                yield from parallel(wave)

    def _parallel(self, return_as: str) -> Any:
        from joblib import Parallel

        # One file is one task: what a lost process takes along is one file. Rows are small: no memory maps.
        own = {} if self.backend is None else {"backend": self.backend()}
        # Asked to choose a folder itself, joblib leaves two empty ones in /dev/shm until the program ends.
        place = {"temp_folder": tempfile.gettempdir()}
        return Parallel(return_as=return_as, batch_size=1, max_nbytes=None, **place, **own, **self.options)


Engine = JoblibEngine | LocalEngine


def _quietly(rows: Any) -> Iterator[Row]:
    """The rows; joblib's word about tasks that an early end leaves undone is for others: we know."""
    try:
        for row in rows:  # not `yield from`, which would close them before we are asked  # noqa: UP028
            yield row
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.close()


@contextmanager
def open_engine(on: Any = None, jobs: int | None = None) -> Iterator[Engine]:
    """The engine a user names: "local", "dask://HOST:PORT", "ray://HOST:PORT", or "joblib".

    "joblib" is whatever `joblib.parallel_config` says at the moment. "dask://local" and "ray://local" start a
    cluster on this machine for the time of the scan. EngineError if it cannot be had.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    _need("joblib", "joblib")
    with ExitStack() as undo:
        if on is None or on == "local":
            local = LocalEngine(jobs or _processors())
            undo.callback(local.close)
            yield local
        elif on == "joblib":
            yield _configured(jobs)
        elif isinstance(on, str) and on.startswith("dask://"):
            yield _dask(undo, on.removeprefix("dask://").rstrip("/"), jobs)
        elif isinstance(on, str) and on.startswith("ray://"):
            yield _ray(undo, on.removeprefix("ray://").rstrip("/"), jobs)
        else:
            raise EngineError(f"unknown engine {on!r}; use local, dask://HOST or ray://HOST")


def _need(package: str, install: str) -> None:
    if find_spec(package) is None:
        raise EngineError(f"{package} is not installed; pip install {install}")


def _processors() -> int:
    from joblib import cpu_count

    return max(1, int(cpu_count()))


def _configured(jobs: int | None) -> JoblibEngine:
    from joblib.parallel import get_active_backend

    backend, configured = get_active_backend()
    count = backend.effective_n_jobs(jobs or configured)
    streams = bool(getattr(backend, "supports_return_generator", False))
    options = {} if jobs is None else {"n_jobs": jobs}
    return JoblibEngine(name="joblib", jobs=count, streams=streams, options=options)


def _dask(undo: ExitStack, host: str, jobs: int | None) -> JoblibEngine:
    _need("distributed", "'outlive[dask]'")
    dask: Any = import_module("distributed")
    try:
        if host == "local":
            # What a lost worker leaves behind is ours to judge, at once.
            settings = import_module("dask").config
            undo.enter_context(settings.set({_ALLOWED_FAILURES: 0}))
            undo.enter_context(_environment_kept(settings.get(_SPAWN_ENVIRONMENT, None) or {}))
            cluster = dask.LocalCluster(
                n_workers=jobs or _processors(), threads_per_worker=1, dashboard_address=None
            )
            client = undo.enter_context(dask.Client(undo.enter_context(cluster), set_as_default=False))
        else:
            address = f"tcp://{_with_port(host, 'dask')}"
            client = undo.enter_context(dask.Client(address, timeout=_CONNECT_S, set_as_default=False))
        count = sum(client.ncores().values())
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        raise EngineError(f"no Dask scheduler answers at {host!r}: {_words(error)}") from error
    if not count:
        raise EngineError(f"the Dask scheduler at {host!r} has no workers; start some with `dask worker`")
    in_flight = {} if jobs is None else {"pre_dispatch": jobs}
    return JoblibEngine(
        name=f"dask://{host}",
        jobs=min(jobs or count, count),
        streams=True,
        options=in_flight,
        backend=lambda: _dask_backend(client),
    )


@contextmanager
def _environment_kept(names: Iterable[str]) -> Iterator[None]:
    """Put these variables back in the end: Dask sets them here for its workers, and leaves them behind.

    One of them tells malloc to give memory back at once: what later workers take would seem less.
    """
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _dask_backend(client: Any) -> Any:
    """joblib's backend for Dask, which does not wait for ever for a task that Dask has given up."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            # With one left, joblib would do the work in this very process.
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def submit(self, func: Any, callback: Any = None) -> Any:
            future = super().submit(func, callback)
            # joblib hears of results only. What a lost worker leaves behind is an error of the future.
            future.add_done_callback(lambda done: done.exception() and callback and callback(done))
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            error = out.exception() if isinstance(out, Future) else None
            if error is not None:
                raise error
            return super().retrieve_result_callback(out)

    return Backend(client=client, wait_for_workers_timeout=_CONNECT_S)


def _ray(undo: ExitStack, host: str, jobs: int | None) -> JoblibEngine:
    _need("ray", "'outlive[ray]'")
    from joblib import parallel_config

    ray: Any = import_module("ray")
    if not ray.is_initialized():
        try:
            ray.init(**_ray_address(host, jobs))
        except (OSError, ValueError, RuntimeError) as error:
            raise EngineError(f"no Ray cluster answers at {host!r}: {_words(error)}") from error
        undo.callback(ray.shutdown)
    import_module("ray.util.joblib").register_ray()
    undo.enter_context(parallel_config("ray"))
    count = int(ray.cluster_resources().get("CPU", 0)) or 1
    wanted = min(jobs or count, count)
    # One job would be done in this very process, as above; where there is one processor, two share it.
    options: dict[str, Any] = {"n_jobs": max(2, wanted)}
    if count == 1:
        options["ray_remote_args"] = {"num_cpus": 0.5}
    return JoblibEngine(name=f"ray://{host}", jobs=wanted, streams=False, options=options)


def _ray_address(host: str, jobs: int | None) -> dict[str, Any]:
    quiet = {"log_to_driver": False, "logging_level": "error"}
    if host == "local":
        return {"address": "local", "num_cpus": jobs, "include_dashboard": False, **quiet}
    if host in ("", "auto"):
        return {"address": "auto", **quiet}
    return {"address": f"ray://{_with_port(host, 'ray')}", **quiet}


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _with_port(host: str, engine: str) -> str:
    name, found, port = host.rpartition(":")
    if not host or (found and not (name and port.isdigit())):
        raise EngineError(f"{engine}://{host} has no host; write {engine}://HOST:{_DEFAULT_PORTS[engine]}")
    return host if found else f"{host}:{_DEFAULT_PORTS[engine]}"
