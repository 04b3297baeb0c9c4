"""Signatures: a model called by name, in the worker, as LiteRT's SignatureRunner does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.worker.child import codec

Ask = Callable[..., tuple[dict[str, Any], bytes]]
# Runs a subgraph on inputs by index, and gives the values of these outputs.
Call = Callable[[int, dict[int, NDArray[Any]], list[int]], list[Any]]


class SignatureRunner:
    """Calls one signature: `runner(image=array)` gives a dictionary of results."""

    def __init__(self, ask: Ask, call: Call, signature_key: str) -> None:
        """Look the signature up in the worker."""
        if not signature_key:
            raise ValueError("None signature_key provided.")
        self._ask, self._call = ask, call
        reply, _ = ask({"do": "signature", "key": signature_key})
        definition = codec.unpack_detail(reply["value"])
        self._inputs: dict[str, int] = definition["inputs"]
        self._outputs: dict[str, int] = definition["outputs"]
        self._subgraph = int(reply["subgraph"])

    def __call__(self, **kwargs: Any) -> dict[str, Any]:
        """Run the signature on these inputs."""
        if len(kwargs) != len(self._inputs):
            raise ValueError(
                "Invalid number of inputs provided for running a SignatureDef, "
                f"expected {len(self._inputs)} vs provided {len(kwargs)}"
            )
        for name in kwargs:
            if name not in self._inputs:
                raise ValueError(f"Invalid Input name ({name}) for SignatureDef")
        inputs = {self._inputs[name]: np.asarray(value) for name, value in kwargs.items()}
        values = self._call(self._subgraph, inputs, list(self._outputs.values()))
        return dict(zip(self._outputs, values, strict=True))

    def get_input_details(self) -> dict[str, Any]:
        """Details of each input by its name in the signature."""
        return {name: self._detail(index) for name, index in self._inputs.items()}

    def get_output_details(self) -> dict[str, Any]:
        """Details of each output by its name in the signature."""
        return {name: self._detail(index) for name, index in self._outputs.items()}

    def _detail(self, index: int) -> Any:
        reply, _ = self._ask({"do": "details", "what": "tensor", "arguments": [index, self._subgraph]})
        return codec.unpack_detail(reply["value"])
