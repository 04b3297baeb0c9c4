"""No LiteRT build for this machine

What it checks
    If LiteRT is not installed: PyPI has a build for this system, processor, C library and Python.

Why it matters
    `pip install` finds nothing, or only very old versions: "no matching distribution", without a
    reason.

What to do
    Use a supported image, Python or 64-bit system. On 32-bit Arm, use the older tflite-runtime.

Limits
    The list is that of the LiteRT version that outlive follows. Builds of others, such as Linux
    distributions, are not known.
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
    "use a supported Python version",
    Tag.SAME_RESULTS,
    command="python3.12 -m venv .venv && .venv/bin/pip install ai-edge-litert",
)
_OTHER_MACHINE = Remedy("use a supported 64-bit system", Tag.SAME_RESULTS)


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
        why=f"PyPI has no build of {_RELEASE} for it",
        remedies=tuple(remedies.values()),
        fault=Fault.MACHINE,
    )


def _obstacles(here: Surroundings) -> Iterator[tuple[str, Remedy]]:
    """What the package is not built for, and the way around it."""
    built = _BUILDS.get(here.system, ())
    if here.architecture not in built or here.bits != 64:
        words = f"{here.system} on {here.architecture} with a {here.bits}-bit Python"
        known = f"available for 64-bit {' and '.join(built)}" if built else "not available for this system"
        arm = here.architecture.startswith("arm") and here.system == "Linux" and here.bits == 32
        yield f"{words}; LiteRT is {known}", _OLDER_RUNTIME if arm else _OTHER_MACHINE
    if here.libc == "musl":
        yield "the C library is musl (Alpine); LiteRT needs glibc", _SLIM
    if here.libc == "glibc" and () < here.libc_version < _GLIBC:
        version = ".".join(map(str, here.libc_version))
        yield f"glibc is {version}; LiteRT needs 2.27 or later", _SLIM
    low, high = _PYTHONS
    if not low <= here.python[:2] <= high:
        version = ".".join(map(str, here.python[:2]))
        yield f"Python is {version}; LiteRT supports 3.10 to 3.14", _OTHER_PYTHON
