"""Web page instead of a model

What it checks
    The file does not start with HTML.

Why it matters
    A link to a model's page, a login page or an error page was saved under the model's name. The
    runtime reports a wrong model identifier.

What to do
    Use the direct link to the file ("raw", "download"), and a downloader that fails on HTTP errors,
    such as `curl -fL`.

Limits
    The rule reads the first 4 KiB only.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name


@rule("F105", "web-page", Severity.ERROR, since="0.1")
def web_page(file: Reading) -> Sightings:
    if file.identity.kind != "web-page":
        return
    title = f"title '{file.identity.detail}'" if file.identity.detail else "no title"
    yield Sighting(
        value=title,
        where=file_name(file.path),
        evidence=(Evidence(f"starts with HTML, {title}", "first bytes"),),
        why="the server returned a page instead of the file",
        remedies=(
            Remedy(
                "download it again from the direct link",
                Tag.SAME_RESULTS,
                command="curl -fL -o model.tflite URL",
            ),
        ),
    )
