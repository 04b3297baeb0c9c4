"""the file is a zip archive, not a single model

What it checks
    Whether the file starts as a zip archive does, and what is inside.

Why it matters
    MediaPipe .task bundles, Android .aar packages and Keras .keras files are zip archives; LiteRT reads
    none of them.

What to do
    Unpack the archive and use the .tflite inside; convert a .keras file first.

Limits
    A model with files attached at its end is no archive in this sense: it starts as a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import command, file_name


@rule("F106", "zip-archive", Severity.ERROR, since="0.1")
def zip_archive(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    if file.identity.kind != "zip-archive":
        return
    inside = file.identity.detail or "its list of contents cannot be read"
    keras = "Keras" in inside
    unpack = Remedy(
        action="unpack it and use the model inside",
        tag=Tag.SAME_RESULTS,
        command=command("unzip", file.path, "-d", "unpacked"),
    )
    convert = Remedy(
        action="convert it: tf.lite.TFLiteConverter.from_keras_model(...).convert()", tag=Tag.SAME_RESULTS
    )
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(fact=inside, source="zip directory"),),
        why="the runtime reads a single model, not an archive",
        remedies=(convert if keras else unpack,),
    )
