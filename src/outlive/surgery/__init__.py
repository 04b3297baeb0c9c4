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
from outlive.surgery.tree import tree_of
from outlive.surgery.trimmed import Trimmed, trim
from outlive.surgery.writer import write

__all__ = ["Cut", "CutRequest", "CutTensor", "Trimmed", "cut_model", "tree_of", "trim", "write"]
