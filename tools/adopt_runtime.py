"""What changes with another version of LiteRT: python tools/adopt_runtime.py VERSION [--write] [--no-models].

    scratch environment with that version ──┐   schema, operators and their versions, names of kernels,
    the installed one ──────────────────────┴─> microkernels; plans beside what both do with each model

The tables are written anew as far as they come from the runtime: the schema, the operators' names, the
versions in the signatures, the tile sizes of x86-64 (tools/runtime_tiles.py); to build/adopted/VERSION, or
with --write in their places. What only its sources say (demands of kernels, memory, the tile sizes of arm64,
whose wheel does not load here) cannot be read from a wheel: the plans that no longer match, and the
microkernels that came and went, say where to look. Nothing else in src names a version of LiteRT
(tests/house/versions.py); the pins of pyproject.toml and constraints.txt are yours to change.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import textwrap
import venv
from collections.abc import Iterable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))
sys.path.insert(0, str(REPOSITORY / "tools"))

from compare_schema import DISTRIBUTION, SCHEMA, Document, add_missing, compare, dump  # noqa: E402
from plans_beside import Outcome, outcomes  # noqa: E402
from runtime_facts import RuntimeFacts, facts_of  # noqa: E402
from runtime_tiles import FLAGS, dump_tiles, with_tiles  # noqa: E402

from outlive import demo_models  # noqa: E402
from outlive.kernels import tables  # noqa: E402
from outlive.kernels.xnnpack.node_memory import instruction_set, instruction_sets  # noqa: E402
from outlive.process.child import kernel_names  # noqa: E402

SCRATCH = REPOSITORY / "build" / "runtimes"
ADOPTED = REPOSITORY / "build" / "adopted"
CORPUS = Path(os.environ.get("OUTLIVE_CORPUS") or REPOSITORY.parent / "shared") / "models"
SIGNATURES = REPOSITORY / "src" / "outlive" / "kernels" / "tables" / "litert_signatures.json"
KERNEL_NAMES = Path(kernel_names.__file__)
TABLES = Path(tables.__file__)
TILES = TABLES.with_name("xnnpack_tiles.json")
# Peaks of two runs of one version differ by some pages.
SAME_SHARE, SAME_BYTES = 0.03, 1 << 16


def environment(version: str, folder: Path = SCRATCH) -> str:
    """The Python of an environment that has this version; made if there is none yet."""
    place = folder / f"{DISTRIBUTION}-{version}"
    python = place / "bin" / "python"
    if not python.exists():
        print(f"installing {DISTRIBUTION} {version} in {place}", flush=True)
        venv.create(place, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*command, f"{DISTRIBUTION}=={version}"], check=True)
    return str(python)


def schema_changes(ours: Document, facts: RuntimeFacts) -> Iterator[str]:
    """What of the schema differs from our table."""
    yield from (f"{kind}: {text}" for kind, text in compare(ours, facts.schema))


def operator_changes(facts: RuntimeFacts, ours: Document) -> Iterator[str]:
    """Operators and versions that the runtime registers and our table does not have, and the reverse."""
    known = {name: tuple(entry["versions"]) for name, entry in ours["operators"].items()}
    for name in sorted(known.keys() | facts.op_versions.keys()):
        here, there = known.get(name), facts.op_versions.get(name)
        if here != there:
            yield f"{name}: versions {_span(there)}, ours {_span(here)}"
    codes = facts.schema.enums["BuiltinOperator"]
    for name in sorted(codes, key=codes.__getitem__):
        if kernel_names.OPERATORS[codes[name] : codes[name] + 1] != (name,):
            yield f"{name}: operator {codes[name]}, which kernel_names does not have in that place"


def _span(versions: tuple[int, ...] | None) -> str:
    return f"{versions[0]} to {versions[1]}" if versions else "none"


def kernel_changes(facts: RuntimeFacts, before: RuntimeFacts) -> Iterator[str]:
    """Kernels that have no operator's name in our tables, and functions that are gone."""
    yield from (
        f"new, and no operator is known for it: {n}" for n in _new(facts, before, "unnamed_functions")
    )
    yield from (
        f"new: {n}" for n in _new(facts, before, "kernel_functions") if n not in facts.unnamed_functions
    )
    yield from (f"gone: {n}" for n in _new(before, facts, "kernel_functions"))


def _new(facts: RuntimeFacts, before: RuntimeFacts, what: str) -> list[str]:
    return sorted(getattr(facts, what) - getattr(before, what))


def tile_changes(facts: RuntimeFacts, before: RuntimeFacts) -> Iterator[str]:
    """Tiles that the library chooses and our table does not have; rows that no microkernel stands for."""
    ours = json.loads(TILES.read_text("utf-8"))["instruction_sets"]
    for name, kind, row in chosen_tiles(facts):
        known = ours.get(name, {"gemm": {}})["gemm"].get(kind)
        if row != known:
            yield f"{name}: {kind} {row}, ours {known}"
    for name, kind, tile in tiles():
        if tile in _sizes(before, kind) and tile not in _sizes(facts, kind):
            yield f"{name}: {kind} {tile} has no microkernel any more"
    for kind in sorted({kind for _, kind, _ in tiles()}):
        for size in sorted(_sizes(facts, kind) - _sizes(before, kind)):
            yield f"new: {kind} {size}"


def chosen_tiles(facts: RuntimeFacts) -> Iterator[tuple[str, str, list[int]]]:
    """Instruction set, kind and row of each matrix product, as the library chooses them."""
    for name in FLAGS.keys() & facts.tiles.keys():
        yield from ((name, kind, row) for kind, row in facts.tiles[name]["gemm"].items())


def tiles() -> Iterator[tuple[str, str, str]]:
    """Instruction set, kind and size of each kernel in the tables, as microkernels are named."""
    for name in instruction_sets():
        for kind, tile in instruction_set(name).gemm.items():
            inner = f"c{tile.kr}" if tile.kr > 1 else ""
            shuffled = f"s{tile.sr}" if tile.sr > 1 else ""
            yield name, kind.removesuffix("_nr2"), f"{tile.mr}x{tile.nr}{inner}{shuffled}"
        for kind, rows in instruction_set(name).depthwise.items():
            yield from ((name, f"{kind}_dwconv", f"{taps}p{channels}c") for taps, channels in rows)


def _sizes(facts: RuntimeFacts, kind: str) -> frozenset[str]:
    name = re.compile(rf"xnn_{kind}(?:_[a-z0-9]+)*?_ukernel_(\d+x\d+(?:c\d+)?(?:s\d+)?|\d+p\d+c)__")
    return frozenset(found[1] for found in map(name.match, facts.microkernels) if found)


def model_changes(new: Iterable[Outcome], old: Iterable[Outcome]) -> Iterator[str]:
    """Models that end otherwise, lie elsewhere or take more or less than under the installed version."""
    for there, here in zip(new, old, strict=True):
        if there.error != here.error:
            yield f"{there.name}: {there.error or 'allocates'}; installed: {here.error or 'allocates'}"
        elif there.differs != here.differs:
            yield f"{there.name}: offsets {'; '.join(there.differs) or 'as planned'}" + (
                f"; installed: {'; '.join(here.differs) or 'as planned'}"
            )
        if abs(there.peak_bytes - here.peak_bytes) > max(SAME_SHARE * here.peak_bytes, SAME_BYTES):
            yield (
                f"{there.name}: planned {there.planned_bytes:,}, peak {there.peak_bytes:,}; "
                f"installed {here.peak_bytes:,}"
            )


def regenerated(facts: RuntimeFacts) -> dict[Path, str]:
    """Our tables as this version has them, by their places."""
    schema: Document = json.loads(SCHEMA.read_text("utf-8"))
    add_missing(schema, facts.schema)
    matches = f"{DISTRIBUTION} {facts.version}"
    demands: Document = json.loads(SIGNATURES.read_text("utf-8"))
    for name, entry in demands["operators"].items():
        entry["versions"] = list(facts.op_versions.get(name, entry["versions"]))
    codes = schema["enums"]["BuiltinOperator"]["values"]
    return {
        SCHEMA: dump(schema | {"matches": matches}),
        SIGNATURES: dump_signatures(demands | {"matches": matches}),
        KERNEL_NAMES: with_operators(KERNEL_NAMES.read_text("utf-8"), sorted(codes, key=codes.__getitem__)),
        TILES: dump_tiles(with_tiles(json.loads(TILES.read_text("utf-8")), facts.tiles)),
        TABLES: re.sub(r'(LITERT_VERSION = )".*"', rf'\1"{facts.version}"', TABLES.read_text("utf-8")),
    }


def dump_signatures(document: Document) -> str:
    """The signatures in the layout we keep them in: one line per operator."""
    lines = []
    for key, value in document.items():
        if key == "operators":
            rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in value.items())
            lines.append(f' "operators": {{\n{rows}\n }}')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def with_operators(text: str, names: list[str]) -> str:
    """The module of kernels' names with this list of operators."""
    head, begin, rest = text.partition('_OPERATORS_TEXT = """\n')
    _, end, tail = rest.partition('\n"""')
    return head + begin + textwrap.fill(" ".join(names), 108, break_on_hyphens=False) + end + tail


def say(title: str, lines: Iterable[str], most: int = 40) -> None:
    """A heading with its lines; nothing new is said too."""
    found = list(lines)
    print(f"\n{title}: {len(found) or 'nothing changed'}")
    for line in found[:most]:
        print(f"  {line}")
    if len(found) > most:
        print(f"  and {len(found) - most} more")


def write_tables(facts: RuntimeFacts, in_place: bool) -> None:
    """Write the tables of this version, in their places or beside them, and say which differ."""
    for path, text in regenerated(facts).items():
        place = path if in_place else ADOPTED / facts.version / path.relative_to(REPOSITORY)
        same = text == path.read_text("utf-8")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        print(f"  {place.relative_to(REPOSITORY)}: {'as it is' if same else 'changed'}")


def compare_models(python: str, before: str, folder: Path) -> None:
    """Plans beside what both versions do, model by model."""
    paths = sorted(folder.glob("*.tflite")) or sorted(demo_models.path("healthy").parent.glob("*.tflite"))
    new, old = list(outcomes(paths, python)), list(outcomes(paths, before))
    for words, found in (("this version", new), ("installed", old)):
        allocated = [one for one in found if not one.error]
        exact = sum(not one.differs for one in allocated)
        print(f"  {words}: {len(allocated)} of {len(found)} models allocate, {exact} as planned to the byte")
    say("models", model_changes(new, old))


def main(arguments: list[str] | None = None) -> int:
    """Install, look, compare, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("version", help=f"a version of {DISTRIBUTION} on PyPI")
    parser.add_argument("--write", action="store_true", help="write the tables in their places")
    parser.add_argument("--no-models", action="store_true", help="tables only: run no model")
    parser.add_argument("--models", type=Path, default=CORPUS, help="models to plan and run (%(default)s)")
    chosen = parser.parse_args(arguments)
    python = environment(chosen.version)
    facts, before = facts_of(python), facts_of(sys.executable)
    print(f"{DISTRIBUTION} {facts.version}, beside {before.version}")
    say("schema", schema_changes(json.loads(SCHEMA.read_text("utf-8")), facts))
    say("operators", operator_changes(facts, json.loads(SIGNATURES.read_text("utf-8"))))
    say("kernels", kernel_changes(facts, before))
    came, went = (len(_new(*pair, "microkernels")) for pair in ((facts, before), (before, facts)))
    say(
        f"microkernels ({came} came and {went} went, of any kind; those in the tile tables)",
        tile_changes(facts, before),
    )
    print("\ntables:")
    write_tables(facts, chosen.write)
    if not chosen.no_models:
        print("\nplans beside the runtime:")
        compare_models(python, sys.executable, chosen.models)
    return 0


if __name__ == "__main__":
    sys.exit(main())
