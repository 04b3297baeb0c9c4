"""there is no build of LiteRT for this machine

What it checks
    If LiteRT is not installed: system, processor, C library and Python, against those that the packages of
    LiteRT on PyPI are built for.

Why it matters
    `pip install` finds nothing, or only versions of long ago: "no matching distribution", and not why.

What to do
    Use what the package is built for: another image, another Python, a 64-bit system; on 32-bit Arm the older
    tflite-runtime.

Limits
    The builds are those of the LiteRT that outlive follows. Those of others, such as Linux distributions, are
    not known.
"""

from outlive.environment.surroundings import Surroundings
from outlive.kernels.tables import LITERT_VERSION
from outlive.rules.api import Evidence, Fault, Iterator, Remedy, Severity, Sighting, Sightings, Tag, rule

# What ai-edge-litert has on PyPI: manylinux_2_27 for x86_64 and aarch64, macosx_12_0_arm64, win_amd64,
# each for cp310 to cp314.
_RELEASE = f"ai-edge-litert {LITERT_VERSION}"
_BUILDS = {"Linux": ("x86_64", "aarch64"), "Darwin": ("arm64",), "Windows": ("AMD64",)}
_PYTHONS = ((3, 10), (3, 14))
_GLIBC = (2, 27)
_SLIM = Remedy(
    "use an image with glibc",
    Tag.SAME_RESULTS,
    command="docker run --rm -it -v .:/models python:3.12-slim bash",
)
_OLDER_RUNTIME = Remedy(
    "use the older tflite-runtime, with Python 3.11 or older and numpy 1",
    Tag.SAME_RESULTS,
    command="python3.11 -m venv old && old/bin/pip install 'numpy<2' tflite-runtime",
)
_OTHER_PYTHON = Remedy(
    "use a Python that there is a build for",
    Tag.SAME_RESULTS,
    command="python3.12 -m venv .venv && .venv/bin/pip install ai-edge-litert",
)
_OTHER_MACHINE = Remedy("use a 64-bit system that there is a build for", Tag.SAME_RESULTS)


@rule("E412", "no-wheel-for-machine", Severity.ERROR, since="0.1", cause="missing-runtime")
def no_wheel_for_machine(surroundings: Surroundings) -> Sightings:
    if "litert" in surroundings.packages:
        return
    found = list(_obstacles(surroundings))
    if not found:
        return
    remedies = {remedy.action: remedy for _, remedy in found}
    yield Sighting(
        where=f"{surroundings.system} {surroundings.architecture}",
        evidence=tuple(Evidence(fact, "this machine") for fact, _ in found),
        why=f"{_RELEASE} was not built for that",
        remedies=tuple(remedies.values()),
        fault=Fault.MACHINE,
    )


def _obstacles(here: Surroundings) -> Iterator[tuple[str, Remedy]]:
    """What the package is not built for, and the way around it."""
    built = _BUILDS.get(here.system, ())
    if here.architecture not in built or here.bits != 64:
        words = f"{here.system} on {here.architecture} with a Python of {here.bits} bits"
        known = f"built for {' and '.join(built)} of 64 bits" if built else "not built for this system at all"
        arm = here.architecture.startswith("arm") and here.system == "Linux" and here.bits == 32
        yield f"{words}; it is {known}", _OLDER_RUNTIME if arm else _OTHER_MACHINE
    if here.libc == "musl":
        yield "the C library is musl, as on Alpine; it is built for glibc", _SLIM
    if here.libc == "glibc" and () < here.libc_version < _GLIBC:
        version = ".".join(map(str, here.libc_version))
        yield f"glibc is {version}; it needs 2.27 or later", _SLIM
    low, high = _PYTHONS
    if not low <= here.python[:2] <= high:
        version = ".".join(map(str, here.python[:2]))
        yield f"Python is {version}; it is built for 3.10 to 3.14", _OTHER_PYTHON
