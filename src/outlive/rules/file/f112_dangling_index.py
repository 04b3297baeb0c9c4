"""Index out of range in the model

What it checks
    Every index in the file is within its list: tensors of operators, inputs, outputs and signatures;
    buffers; operator codes; subgraphs.

Why it matters
    The runtime checks some of these indices, and follows the others into memory that it does not own.

What to do
    Convert the model again. If a tool edited the file, check that tool.

Limits
    The index -1 among the inputs or outputs of an operator marks an optional tensor, and is allowed
    here.
"""

from dataclasses import replace

from outlive.model import Reading
from outlive.rules.api import Severity, Sightings, rule
from outlive.rules.file.flaws import FETCH_OR_CONVERT, sight_flaws


@rule("F112", "dangling-index", Severity.ERROR, since="0.1", cause="flatbuffer-corrupt")
def dangling_index(file: Reading) -> Sightings:
    why = "the index is damaged, or a tool removed the target and kept the reference"
    first = next((flaw for flaw in file.flaws if flaw.kind == "dangling-index"), None)
    cause = "graph-io-index" if first is not None and first.table == "SubGraph" else ""
    yield from (
        replace(seen, cause=cause) for seen in sight_flaws(file, "dangling-index", why, (FETCH_OR_CONVERT,))
    )
