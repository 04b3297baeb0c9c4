"""The path is a folder, not a model file

What it checks
    The path is a file.

Why it matters
    LiteRT reads one .tflite file. A TensorFlow SavedModel is a folder and needs conversion first.

What to do
    Convert a SavedModel with TensorFlow's converter. For other folders, name one .tflite file.

Limits
    The rule looks for saved_model.pb and *.tflite only.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name


@rule("F103", "directory-not-file", Severity.ERROR, since="0.1")
def directory_not_file(file: Reading) -> Sightings:
    if file.identity.kind != "directory":
        return
    if "SavedModel" in file.identity.detail:
        action = "convert the SavedModel: tf.lite.TFLiteConverter.from_saved_model(...).convert()"
    else:
        action = "pass a .tflite file inside the folder"
    yield Sighting(
        value=file.identity.detail,
        where=file_name(file.path),
        evidence=(Evidence(file.identity.detail, "folder listing"),),
        why="LiteRT reads one .tflite file at a time",
        remedies=(Remedy(action, Tag.SAME_RESULTS),),
        fault=Fault.INPUT,
    )
