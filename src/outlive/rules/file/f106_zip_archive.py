"""Zip archive instead of a model

What it checks
    The file does not start with a zip signature; the finding lists the archive's contents.

Why it matters
    MediaPipe .task bundles, Android .aar packages and Keras .keras files are zip archives. LiteRT reads
    none of them.

What to do
    Unpack the archive and use the .tflite file inside. Convert a .keras file first.

Limits
    A model with attached files is not an archive in this sense: it starts with a model.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command, file_name


@rule("F106", "zip-archive", Severity.ERROR, since="0.1")
def zip_archive(file: Reading) -> Sightings:
    if file.identity.kind != "zip-archive":
        return
    inside = file.identity.detail or "unreadable contents"
    keras = "Keras" in inside
    unpack = Remedy(
        "unpack the archive and use the model inside",
        Tag.SAME_RESULTS,
        command=command("unzip", file.path, "-d", "unpacked"),
    )
    convert = Remedy("convert it: tf.lite.TFLiteConverter.from_keras_model(...).convert()", Tag.SAME_RESULTS)
    yield Sighting(
        value=inside,
        where=file_name(file.path),
        evidence=(Evidence(inside, "zip directory"),),
        why="the runtime reads a single model, not an archive",
        remedies=(convert if keras else unpack,),
    )
