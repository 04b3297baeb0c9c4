"""a system library that the runtime needs is not there

What it checks
    The text of the import that failed, for a shared library that the system's loader could not find.

Why it matters
    The package is there, and installing it again changes nothing: what it lacks comes from the system.
    Slim container images leave such libraries out.

What to do
    Install the library with the system's package manager.

Limits
    Which package brings the library is said for Debian and Ubuntu, and only where it is known.
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
        "install it with the system's package manager",
        Tag.SAME_RESULTS,
        command=f"sudo apt install {bringer}",
    )
    unknown = Remedy(
        "find out which package brings it, and install that",
        Tag.SAME_RESULTS,
        command=f"apt-file search {library}",
    )
    why = "the runtime is built on a library that this system does not have"
    yield sight_absence(absence, why, known if bringer else unknown, first=f"{library} was not found")
