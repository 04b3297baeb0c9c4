"""Bring uPlot, the charts of the HTML reports, into the package: one version, its licence, its digest.

python tools/vendor_uplot.py            fetch from the npm registry, verify, write
python tools/vendor_uplot.py --check    hold what is in the package against the registry's archive
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import sys
import tarfile
import urllib.request
from pathlib import Path

NAME = "uplot"
VERSION = "1.6.32"
# What the registry says of the archive; another archive under the same version is refused.
INTEGRITY = "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=="
REGISTRY = "https://registry.npmjs.org"
FILES = {
    "package/dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "package/dist/uPlot.min.css": "uPlot.min.css",
    "package/LICENSE": "LICENSE",
}
FOLDER = Path(__file__).resolve().parent.parent / "src" / "outlive" / "rendering" / "web" / "vendor" / NAME


def main() -> int:
    """Write the files, or compare them; 0 if all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    parser.add_argument("--archive", metavar="FILE", help="take this archive (from `npm pack`)")
    args = parser.parse_args()
    archive = Path(args.archive).read_bytes() if args.archive else fetch()
    wanted = unpack(archive)
    if args.check:
        return compare(wanted)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in wanted.items():
        (FOLDER / name).write_bytes(content)
    print(f"{FOLDER}: {NAME} {VERSION}, {sum(map(len, wanted.values())):,} bytes")
    return 0


def fetch() -> bytes:
    """The archive from the registry."""
    address = f"{REGISTRY}/{NAME}/-/{NAME}-{VERSION}.tgz"
    with urllib.request.urlopen(address, timeout=60) as answer:
        return bytes(answer.read())


def unpack(archive: bytes) -> dict[str, bytes]:
    """The files we take out of an archive that is the right one, and a note of where they are from."""
    digest = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    if digest != INTEGRITY:
        raise SystemExit(f"this is not {NAME} {VERSION}: its digest is {digest}")
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for path, name in FILES.items():
            member = tar.extractfile(path)
            if member is None:
                raise SystemExit(f"{path} is not in the archive")
            found[name] = member.read()
    note = {"name": NAME, "version": VERSION, "license": "MIT", "integrity": INTEGRITY}
    found["package.json"] = (json.dumps(note, indent=2) + "\n").encode()
    return found


def compare(wanted: dict[str, bytes]) -> int:
    """Say which files differ; 1 if any does."""
    bad = [
        name
        for name, content in wanted.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_bytes() != content
    ]
    for name in bad:
        print(f"{FOLDER / name} is not that of {NAME} {VERSION}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
