"""the file is plain text, not a model

What it checks
    Whether the first 4 KiB are readable text.

Why it matters
    An error message saved under the model's name, a symbolic link checked out as a file (Windows, zip
    downloads of a repository), or a list of labels given by mistake: the runtime says only that the
    identifier is wrong.

What to do
    Read the text: it usually says what happened. A single line that is a path names the real model.

Limits
    A model cannot be mistaken for text: its fifth to eighth bytes are checked first.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name


@rule("F107", "text-file", Severity.ERROR, since="0.1")
def text_file(file: Reading) -> Sightings:
    if file.identity.kind != "text":
        return
    first = file.identity.detail
    link = "/" in first and first.endswith(".tflite")
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(f"its first line is '{first}'", "first bytes"),),
        why="it is the target of a symbolic link, written out as text"
        if link
        else "no model is made of text",
        remedies=(
            Remedy(
                f"use the file that the text names: {first}" if link else "fetch or convert the model again",
                Tag.SAME_RESULTS,
            ),
        ),
    )
