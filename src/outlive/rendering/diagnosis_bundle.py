"""A diagnosis as one zip to send: what was seen, what it means, with what; weights only if asked."""

from __future__ import annotations

import platform
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from outlive.atomic_files import whole_file
from outlive.diagnosis.diagnosis_record import Diagnosis
from outlive.rendering.finding_text import plain_finding
from outlive.rendering.media.json import Json, document_of, dump

_PACKAGES = ("outlive", "ai-edge-litert", "tensorflow", "tflite-runtime", "numpy", "flatbuffers")


def write_bundle(diagnosis: Diagnosis, path: str, weights: str | bytes | None) -> None:
    """Write the zip; `weights` is the model to put into it, None to leave it and the reproducer's out.

    A reduced model still holds weights of the whole, so it goes along only if they may.
    """
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("diagnosis.json", dump(document_of(diagnosis)))
        archive.writestr("versions.json", dump(_versions()))
        archive.writestr("findings.txt", _findings(diagnosis))
        if isinstance(weights, bytes):
            archive.writestr("model/model.tflite", weights)
        for name, item in _files(diagnosis, weights):
            archive.write(item, name)


def _files(diagnosis: Diagnosis, weights: str | bytes | None) -> list[tuple[str, Path]]:
    made = diagnosis.reproducer
    found = []
    if made is not None and made.script:
        found.append(("repro.py", Path(made.script)))
    if isinstance(weights, str):
        found.append((f"model/{Path(weights).name}", Path(weights)))
    if weights is not None and made is not None:
        reduced = Path(made.path)
        inputs = reduced.with_name(f"{reduced.stem}_inputs.npz")
        found += [(item.name, item) for item in (reduced, inputs) if item.exists()]
    return found


def _findings(diagnosis: Diagnosis) -> str:
    said = [] if diagnosis.verdict is None else [plain_finding(diagnosis.verdict, detail=1)]
    said += [plain_finding(finding, detail=1) for finding in diagnosis.findings]
    return "\n\n".join(said) + "\n"


def _versions() -> Json:
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
