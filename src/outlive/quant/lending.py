"""A model's file as ai-edge-quantizer needs it, and back: what it lacks is lent to it.

The quantizer runs models by their signatures only, so one that has none gets one for the time being. It
reads an operator's kind from `builtin_code` only, which files made before 2020 leave at 0, so that it would
take all their operators for ADD: the field is filled in.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from outlive.model import Model
from outlive.quant.capturing import file_of
from outlive.surgery import tree_of
from outlive.surgery.tree import Tree

SIGNATURE = "outlive"


def needs_conversion(source: Any) -> bool:
    """True for what TensorFlow's converter has to make a .tflite of first: Keras models and SavedModels."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return path.suffix.lower() in (".keras", ".h5") or os.path.isfile(path / "saved_model.pb")
    return hasattr(source, "save") and hasattr(source, "layers")


def prepared(model: Model) -> tuple[bytes, str, list[str]]:
    """The file, the key of a signature of its main subgraph, and the names of the inputs in it, in order."""
    tree = tree_of(model.content)
    kinds = zip(tree["operator_codes"] or (), model.operator_codes, strict=True)
    known = [(row, code.type) for row, code in kinds]
    codes = [row if kind.startswith("unknown") else {**row, "builtin_code": kind} for row, kind in known]
    tree = with_full_floats({**tree, "operator_codes": codes}, model)
    inputs, outputs = model.subgraphs[0].input_indices, model.subgraphs[0].output_indices
    for signature in model.signatures:
        names = {index: name for name, index in signature.inputs}
        if signature.subgraph_index == 0 and set(names) == set(inputs):
            return file_of(tree), signature.key, [names[index] for index in inputs]
    named = [f"input_{place}" for place in range(len(inputs))]
    lent = {
        "signature_key": SIGNATURE,
        "subgraph_index": 0,
        "inputs": [{"name": name, "tensor_index": index} for name, index in zip(named, inputs, strict=True)],
        "outputs": [{"name": f"output_{place}", "tensor_index": out} for place, out in enumerate(outputs)],
    }
    signatures = [*(tree["signature_defs"] or ()), lent]
    return file_of({**tree, "signature_defs": signatures}), SIGNATURE, named


def with_full_floats(tree: Tree, model: Model) -> Tree:
    """The tree with float16 constants, which a DEQUANTIZE turns into float32, as the float32 they become.

    The quantizer wants weights to be constants; it fails on those that an operator has to make first.
    """
    main, graph = tree["subgraphs"][0], model.subgraphs[0]
    tensors, buffers = list(main["tensors"]), list(tree["buffers"])
    users = Counter(tensor.buffer_index for tensor in model.tensors())
    gone = set()
    for step in graph.operators:
        given = graph.tensors[step.inputs[0]] if step.type == "DEQUANTIZE" else None
        if given is None or given.dtype != "float16" or not given.has_data or given.sparsity is not None:
            continue
        buffers.append({"data": given.array().astype(np.float32).tobytes()})
        out = step.outputs[0]
        tensors[out] = {**tensors[out], "buffer": len(buffers) - 1, "shape": list(given.shape)}
        tensors[given.index] = {**tensors[given.index], "buffer": 0}
        if users[given.buffer_index] == 1:
            buffers[given.buffer_index] = {}  # the quantizer would carry the old value along
        gone.add(step.index)
    if not gone:
        return tree
    kept = [row for place, row in enumerate(main["operators"]) if place not in gone]
    first = {**main, "tensors": tensors, "operators": kept}
    return {**tree, "subgraphs": [first, *tree["subgraphs"][1:]], "buffers": buffers}


def taken_back(content: bytes) -> bytes:
    """The file without the signature that was lent to it."""
    tree = tree_of(memoryview(content))
    kept = [row for row in tree["signature_defs"] or () if row["signature_key"] != SIGNATURE]
    return file_of({**tree, "signature_defs": kept or None})
