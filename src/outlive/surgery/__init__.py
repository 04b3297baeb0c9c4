"""HOW DO WE CUT OR CHANGE A MODEL?

::

    tree ──────────────► write ──────────────► bytes of a .tflite file
    plain dicts, lists,    driven by             [ FlatBuffer, constants inside ]
    bytes and arrays       model/schema.json     [ FlatBuffer | constants behind ]   outside=True

    model ─► tree_of ─► selection ─► assembly ─► kept_metadata ─► write ─► Cut
             the tree   operators,   renumbered  metadata,                 a part of the model
             of a file  tensors                  signatures                as a model of its own

    model ─► trim ─► Trimmed                                          the whole of it, without its waste

Nouns: a *tree* is a mapping that uses the schema's own field names, such as
``{"version": 3, "subgraphs": [{"tensors": [...]}]}``; a *path* names one place in it,
such as ``subgraphs[0].operators[3].builtin_options.padding``; a constant is *outside*
when it lies behind the FlatBuffer instead of in it. A `Cut` is a part with what it was in the *whole*.
"""

from outlive.surgery.cut import Cut, CutRequest, CutTensor, cut_model
from outlive.surgery.lookup import Ops, TensorName
from outlive.surgery.tree import Tree, UnknownOptions, tree_of
from outlive.surgery.trimmed import Trimmed, sparsify, trim
from outlive.surgery.waste import constant_integers, dead_in
from outlive.surgery.writer import write

__all__ = [
    "Cut",
    "CutRequest",
    "CutTensor",
    "Ops",
    "TensorName",
    "Tree",
    "Trimmed",
    "UnknownOptions",
    "constant_integers",
    "cut_model",
    "dead_in",
    "sparsify",
    "tree_of",
    "trim",
    "write",
]
