"""System library not found

What it checks
    The import error does not name a shared library that the system's loader could not find.

Why it matters
    The package is installed, and reinstalling it does not help: the missing library belongs to the
    system. Slim container images leave such libraries out.

What to do
    Install the library with the system's package manager.

Limits
    The finding names the package for Debian and Ubuntu only, and only if it is known.
"""

from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.environment.import_errors import (
    missing_library,
    missing_version,
    numpy_mismatch,
    sight_absence,
)

# What brings a library on Debian and Ubuntu, by how its name begins.
_BRINGERS = {
    "libGL.so": "libgl1",
    "libEGL.so": "libegl1",
    "libGLESv2.so": "libgles2",
    "libOpenCL.so": "ocl-icd-libopencl1",
    "libvulkan.so": "libvulkan1",
    "libusb-1.0.so": "libusb-1.0-0",
    "libedgetpu.so": "libedgetpu1-std",
    "libgomp.so": "libgomp1",
    "libatomic.so": "libatomic1",
    "libstdc++.so": "libstdc++6",
    "libgcc_s.so": "libgcc-s1",
    "libopenvino.so": "openvino",
}


@rule("E403", "system-library-missing", Severity.ERROR, since="0.1", cause="missing-runtime")
def system_library_missing(absence: str) -> Sightings:
    library = missing_library(absence)
    if not library or missing_version(absence) or numpy_mismatch(absence):
        return
    bringer = next((name for start, name in _BRINGERS.items() if library.startswith(start)), "")
    known = Remedy(
        "install the library",
        Tag.SAME_RESULTS,
        command=f"sudo apt install {bringer}",
    )
    unknown = Remedy(
        "find the package with this library, and install it",
        Tag.SAME_RESULTS,
        command=f"apt-file search {library}",
    )
    why = "the runtime needs this system library"
    yield sight_absence(absence, why, known if bringer else unknown, first=library)
