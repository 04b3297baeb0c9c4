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

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command, file_name


@rule("F106", "zip-archive", Severity.ERROR, since="0.1")
def zip_archive(file: Reading) -> Sightings:
    if file.identity.kind != "zip-archive":
        return
    inside = file.identity.detail or "its list of contents cannot be read"
    keras = "Keras" in inside
    unpack = Remedy(
        "unpack it and use the model inside",
        Tag.SAME_RESULTS,
        command=command("unzip", file.path, "-d", "unpacked"),
    )
    convert = Remedy("convert it: tf.lite.TFLiteConverter.from_keras_model(...).convert()", Tag.SAME_RESULTS)
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(inside, "zip directory"),),
        why="the runtime reads a single model, not an archive",
        remedies=(convert if keras else unpack,),
    )
