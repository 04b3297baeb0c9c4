"""Signatures: a model called by name, in the worker, as LiteRT's SignatureRunner does."""

from typing import Any

import numpy as np


class SignatureRunner:
    """Calls one signature: `runner(image=array)` gives a dictionary of results."""

    def __init__(self, interpreter: Any, signature_key: str) -> None:
        """Look the signature up in the worker."""
        if not signature_key:
            raise ValueError("None signature_key provided.")
        self._interpreter = interpreter
        definition = interpreter._open_signature(signature_key)
        self._subgraph: int = definition["subgraph"]
        self._inputs: dict[str, int] = definition["inputs"]
        self._outputs: dict[str, int] = definition["outputs"]

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
        values = self._interpreter._run_subgraph(self._subgraph, inputs, list(self._outputs.values()))
        return dict(zip(self._outputs, values, strict=True))

    def get_input_details(self) -> dict[str, Any]:
        """Details of each input by its name in the signature."""
        return {name: self._detail(index) for name, index in self._inputs.items()}

    def get_output_details(self) -> dict[str, Any]:
        """Details of each output by its name in the signature."""
        return {name: self._detail(index) for name, index in self._outputs.items()}

    def _detail(self, index: int) -> Any:
        return self._interpreter._get_tensor_details(index, self._subgraph)
