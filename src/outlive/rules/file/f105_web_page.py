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

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Remedy, Severity, Sighting, Tag
from outlive.model import Reading
from outlive.rules.engine import rule
from outlive.rules.telling import file_name


@rule("F105", "web-page", Severity.ERROR, since="0.1")
def web_page(file: Reading) -> Iterator[Sighting]:
    """See the module."""
    if file.identity.kind != "web-page":
        return
    title = f"its title is '{file.identity.detail}'" if file.identity.detail else "it has no title"
    yield Sighting(
        where=file_name(file.path),
        evidence=(Evidence(fact=f"it starts with HTML; {title}", source="first bytes"),),
        why="the server answered with a page instead of the file",
        remedies=(
            Remedy(
                action="download again from the direct link, failing on errors",
                tag=Tag.SAME_RESULTS,
                command="curl -fL -o model.tflite URL",
            ),
        ),
    )
