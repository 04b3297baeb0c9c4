"""`scan`: one table of many models."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from outlive.arena.devices import Device
from outlive.atomic_files import whole_file, write_whole
from outlive.cache import ResultCache, cache_folder
from outlive.diagnosis.examination import Examination
from outlive.fleet import Row
from outlive.fleet.file_discovery import FoundFile, find_files
from outlive.fleet.file_scan import Admit, scan_file
from outlive.fleet.local_engine import WORKER_LIFETIME, end_with
from outlive.fleet.regressions import Tolerances
from outlive.fleet.rows import ScanOptions, ScanTask, make_options
from outlive.fleet.scan_state import JournalError, read_rows
from outlive.fleet.scanning import Scan, ScanCounts, partial_scan, scan_files
from outlive.model import Reading
from outlive.process.limits import Limits
from outlive.project.config import UnreadableConfig, find_config, parse_share
from outlive.rules import split_words
from outlive.verbs.checking import make_criteria
from outlive.verbs.examine import ExamineRequest, examine_model
from outlive.verbs.read import reading_of

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Share = float | str | None


class ScanInterrupted(KeyboardInterrupt):
    """Ctrl-C in a scan: what was done is written, and the text says where."""


def scan(
    paths: Paths,
    *,
    device: str | Device | Sequence[str | Device] = (),
    run: bool = False,
    delegates: bool = False,
    accelerator: str = "cpu",
    repeat: int = 5,
    seconds: float = 30.0,
    memory: str | int | None = None,
    select: Sequence[str] | str = (),
    ignore: Sequence[str] | str = (),
    jobs: int | None = None,
    on: str = "local",
    cache: bool = True,
    against: str | os.PathLike[str] | None = None,
    tolerance_peak: Share = None,
    tolerance_latency: Share = None,
    tolerance_outputs: Share = None,
    output: Paths = (),
    resume: bool = False,
    tolerances: Tolerances | None = None,
    devices: Sequence[str | Device] = (),
    tell: Callable[[ScanCounts], None] = lambda tally: None,
) -> Scan:
    """Check, plan and run many models, here or on a cluster. Iterate over the result for its rows.

    `paths` are files, folders, patterns ("models/**/*.tflite") or lists ("@list.txt"); `device` is one or
    several to fit. With `run` each model runs in a worker, and is diagnosed if it dies: `repeat` is the
    number of calls, `seconds` the most for one call, `memory` the most for all that run at the same time.
    `output` are files for the table: .jsonl, to which rows are written as they come, .csv, .parquet or .html;
    with `resume` the rows in it are not done again. `against` is the .jsonl file of an older scan:
    `.comparison` says what got worse, by more than `tolerance_peak` ("5%", or as [tool.outlive] says),
    `tolerance_latency` (25%) and `tolerance_outputs` (0.1%). `on` is "local" (`jobs` processes),
    "dask://HOST", "ray://HOST", or "joblib" for the backend of `joblib.parallel_config`. A bad file raises
    nothing: its row says so. Raises ValueError for unknown devices, rules, engines and files.

    >>> sorted((row.name, row.outcome) for row in outlive.scan("."))[0]
    ('deadly.tflite', 'flawed')
    """
    outputs = _listed(output)
    _check_outputs(outputs, against, resume)
    if against is not None and tolerances is None:
        shares = {"peak": tolerance_peak, "latency": tolerance_latency, "outputs": tolerance_outputs}
        tolerances = find_tolerances(shares)
    named: list[Any] = list(device) if isinstance(device, (list, tuple)) else [device]
    order = make_options(
        [*named, *devices], memory, run=run, delegates=delegates, repeat=repeat, seconds=seconds,
        accelerator=accelerator, select=tuple(_words(select)), ignore=tuple(_words(ignore)),
    )  # fmt: skip
    engine = {
        "on": on,
        "jobs": jobs,
        "cache": ResultCache(cache_folder("scan")) if cache else None,
        "tell": tell,
    }
    against_old = {"against": None if against is None else Path(against), "tolerances": tolerances}
    return _scan(find_files(_listed(paths)), order, outputs, resume=resume, **engine, **against_old)


def _scan(files: Sequence[FoundFile], order: ScanOptions, outputs: list[str], **options: Any) -> Scan:
    """Scan, and write the tables: also of what is done when it is interrupted."""
    journal = _journal_path(outputs)
    try:
        found = scan_files(files, order, examine=examine_task, output=journal, **options)
    except KeyboardInterrupt:
        raise _interrupted(journal, outputs) from None
    except JournalError as error:
        hint = "; what was written before is kept: make room, and go on with --resume" if outputs else ""
        raise error.with_hint(hint) from error.__cause__
    found = replace(found, written=tuple(outputs), with_rows=not outputs)
    _write(found, outputs)
    return found if not outputs or any(map(_is_rows, outputs)) else found.kept_aside()


def examine_task(task: ScanTask) -> Row:
    """What an engine process does with one file."""
    if task.owner == os.getpid():
        # Threads of the user's own process: its workers may be in use.
        return scan_file(task, _examine, reading_of)
    end_with(task.owner)
    with WORKER_LIFETIME.task():
        return scan_file(task, _examine, reading_of)


def _examine(reading: Reading, order: ScanOptions, admit: Admit) -> Examination:
    request = ExamineRequest(
        criteria=make_criteria(accelerator=order.accelerator, select=order.select, ignore=order.ignore),
        devices=order.devices,
        run=order.run,
        limits=Limits(memory=order.memory_bytes, seconds=order.seconds),
        repeat=order.repeat,
        briefly=True,
        delegates=order.delegates,
    )
    return examine_model(reading, request, admit=admit)


def find_tolerances(shares: dict[str, Share]) -> Tolerances:
    """What the caller says, else what the project says, else what is usual."""
    said = {
        name: parse_share(share, f"tolerance_{name}") for name, share in shares.items() if share is not None
    }
    if len(said) == len(shares):
        return Tolerances(**said)
    try:
        return Tolerances(**{**find_config(Path.cwd()).tolerances, **said})
    except UnreadableConfig as error:
        words = " and ".join(f"--tolerance-{name}" for name in shares)
        raise ValueError(f"{error} (it is not needed with {words})") from error


def _listed(paths: Paths) -> list[str]:
    return [os.fspath(one) for one in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _words(given: Sequence[str] | str) -> list[str]:
    return [word for text in ([given] if isinstance(given, str) else given) for word in split_words(text)]


def _check_outputs(outputs: list[str], against: str | os.PathLike[str] | None, resume: bool) -> None:
    """ValueError before hours are spent for nothing."""
    from outlive.rendering.fleet_tables import needs_parquet

    for output in outputs:
        if output.endswith(".parquet") and needs_parquet():
            raise ValueError(f"--output {output}: {needs_parquet()}")
        if os.path.isdir(output):
            raise ValueError(f"cannot write {output}: it is a folder")
        try:
            os.stat(os.path.dirname(output) or ".")
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(f"cannot write {output}: there is no such folder") from None
    if against is not None:
        _check_old(os.fspath(against), outputs)
    if resume and not outputs:
        raise ValueError("--resume goes on with a file: name it with -o")


def _check_old(old: str, outputs: list[str]) -> None:
    if any(os.path.exists(one) and os.path.exists(old) and os.path.samefile(one, old) for one in outputs):
        raise ValueError(f"--against {old} is also the output; write the new scan to another file")
    try:
        first = next(read_rows(Path(old)), None)
    except OSError as error:
        raise ValueError(f"--against {old} cannot be read: {error.strerror}") from error
    if first is None:
        raise ValueError(f"--against {old} holds no row of a scan; give a .jsonl file that a scan wrote")


def _is_rows(output: str) -> bool:
    return not output.endswith((".csv", ".parquet", ".html"))


def _journal_path(outputs: list[str]) -> Path | None:
    """The first file of rows; for other tables a file beside them, which is gone at the end."""
    if not outputs:
        return None
    rows = [output for output in outputs if _is_rows(output)]
    return Path(rows[0]) if rows else Path(f"{outputs[0]}.partial.jsonl")


def _write(found: Scan, outputs: list[str]) -> None:
    """Write the tables that were asked for; OSError with the file and the reason if that fails."""
    for output in outputs:
        try:
            _write_one(Path(output), found)
        except OSError as error:
            raise OSError(f"cannot write {error.filename or output}: {error.strerror or error}") from error


def _write_one(output: Path, found: Scan) -> None:
    from outlive.rendering import fleet_tables

    if _is_rows(output.name):
        if not (output.exists() and output.samefile(found.path)):
            import shutil

            with found.path.open("rb") as rows, whole_file(output) as file:
                shutil.copyfileobj(rows, file)
    elif output.suffix == ".html":
        from outlive.rendering import page_of
        from outlive.rendering.media.html import render_html
        from outlive.rendering.media.json import document_of

        write_whole(output, render_html(page_of(found), document_of(found)))
    else:
        accelerators = fleet_tables.accelerators_in(found) if found.order.delegates else ()
        layout = fleet_tables.columns([device.name for device in found.order.devices], accelerators)
        write = fleet_tables.write_csv if output.suffix == ".csv" else fleet_tables.write_parquet
        write(found, output, layout)


def _interrupted(journal: Path | None, outputs: list[str]) -> ScanInterrupted:
    """Ctrl-C: what is done is written, in every form that was asked for."""
    if journal is None or not journal.exists():
        return ScanInterrupted("interrupted; nothing is kept without -o")
    found = replace(partial_scan(journal), written=tuple(outputs))
    _write(found, outputs)
    return ScanInterrupted(
        f"interrupted; {found.tally.done:,} rows are in {journal}; --resume goes on from there"
    )
