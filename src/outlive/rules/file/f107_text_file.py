"""Text file instead of a model

What it checks
    The first 4 KiB are not readable text.

Why it matters
    The file may be a saved error message, a symbolic link that was checked out as text (Windows, zip
    downloads of a repository), or a list of labels. The runtime reports only a wrong model identifier.

What to do
    Read the text: it usually says what happened. A single line with a path names the real model.

Limits
    The rule never takes a model for text: it checks bytes 5 to 8 first.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT
from outlive.rules.wording import file_name


@rule("F107", "text-file", Severity.ERROR, since="0.1")
def text_file(file: Reading) -> Sightings:
    if file.identity.kind != "text":
        return
    first = file.identity.detail
    link = "/" in first and first.endswith(".tflite")
    yield Sighting(
        value=f"'{first}'",
        where=file_name(file.path),
        evidence=(Evidence(f"first line: '{first}'", "first bytes"),),
        why="the file contains the target of a symbolic link" if link else "a model is a binary file",
        remedies=(Remedy(f"use the file {first}", Tag.SAME_RESULTS) if link else FETCH_OR_CONVERT,),
    )
