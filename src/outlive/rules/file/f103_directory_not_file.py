"""the path is a folder, not a model file

What it checks
    That the path is a file.

Why it matters
    A TensorFlow SavedModel is a folder and must be converted; a folder of models must be named file by
    file.

What to do
    Convert a SavedModel with TensorFlow's converter; otherwise name the file inside the folder.

Limits
    It looks for saved_model.pb and *.tflite only.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name


@rule("F103", "directory-not-file", Severity.ERROR, since="0.1")
def directory_not_file(file: Reading) -> Sightings:
    if file.identity.kind != "directory":
        return
    if "SavedModel" in file.identity.detail:
        action = "convert it: tf.lite.TFLiteConverter.from_saved_model(...).convert()"
    else:
        action = "name a .tflite file inside the folder"
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(file.identity.detail, "folder listing"),),
        why="LiteRT reads one .tflite file at a time",
        remedies=(Remedy(action, Tag.SAME_RESULTS),),
        fault=Fault.INPUT,
    )
