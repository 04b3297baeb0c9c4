"""the file is a web page saved under a model's name

What it checks
    Whether the file starts as HTML does.

Why it matters
    A link to a model's page instead of its raw file, a log-in page or an error page is saved as it
    comes; the runtime then says the model has the wrong identifier.

What to do
    Use the direct link to the file ('raw', 'download'), and a downloader that fails on errors, such as
    curl -fL.

Limits
    It looks at the first 4 KiB only.
"""

from outlive.model import Reading
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name


@rule("F105", "web-page", Severity.ERROR, since="0.1")
def web_page(file: Reading) -> Sightings:
    if file.identity.kind != "web-page":
        return
    title = f"its title is '{file.identity.detail}'" if file.identity.detail else "it has no title"
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(f"it starts with HTML; {title}", "first bytes"),),
        why="the server answered with a page instead of the file",
        remedies=(
            Remedy(
                "download again from the direct link, failing on errors",
                Tag.SAME_RESULTS,
                command="curl -fL -o model.tflite URL",
            ),
        ),
    )
