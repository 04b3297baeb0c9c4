"""The runtime's interpreter inside a worker: the only code of ours that touches native memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Dict, Tuple

import numpy as np

from . import codec, runtimes, tensor_memory
from .operating_system import own_process, tensor_overlay

Reply = Tuple[Dict[str, Any], bytes]
# Details of tiny models have more numbers than four for each byte of the file, but never so many.
_FEWEST_NUMBERS = 1 << 16


class CallRefused(Exception):
    """A call that would harm the worker, refused in words (the parent makes a finding of it)."""


class Moved(Exception):
    """The model has run, and its outputs are not as they were when it was allocated: other shape or place."""


class ModelHost:
    """One interpreter of one runtime, with its inputs and outputs tied to the shared block."""

    def __init__(self, runtime: str, content: int | None, enter: Callable[[str], None]) -> None:
        """Nothing is loaded yet: `do_open` does that, so that a death there has a stage."""
        self._runtime, self._content_fd, self._enter = runtime, content, enter
        self._content: bytes | None = None
        self._file_bytes = 0
        self._interpreter: Any = None
        self._native: Any = None
        self._runners: dict[str, Any] = {}
        self._moving = self._watched = False
        self._shapes: list[tuple[int, list[int]]] = []
        self._tied: dict[str, list[tuple[int, Any]]] = {"inputs": [], "outputs": []}
        self._feeds: list[tuple[Any, Any]] = []
        self._results: list[tuple[Any, Any]] = []
        self._addresses: list[int] = []
        self._overlays: dict[int, tensor_overlay.Overlay] = {}
        self._held: list[Any] = []

    def invoke(self, first: bool = False) -> None:
        """The hot call: inputs in from the block, run, outputs out to the block."""
        if self._moving:
            self._find_again()
        for native, shared in self._feeds:
            native[:] = shared
        self._native.Invoke()
        if self._moving:
            self._find_again()
        elif (first or self._watched) and self._has_moved(first):
            self._moving = True
            self._lift()
            raise Moved
        for shared, native in self._results:
            shared[:] = native

    def _has_moved(self, first: bool) -> bool:
        """True if an output has another shape than when it was allocated or, looked at once, is elsewhere."""
        native = self._native
        if any(native.TensorSize(index, 0).tolist() != shape for index, shape in self._shapes):
            return True
        return first and self._addresses != self._look_up()

    def close(self) -> None:
        """Free the interpreter; a runtime that dies here dies in stage `free`."""
        self._lift(keep=False)
        self._forget_views()
        self._runners.clear()
        self._native = None
        self._interpreter = None

    def do_open(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Load the model."""
        self._enter("load")
        module = runtimes.interpreter_module(self._runtime)
        arguments = dict(header["arguments"])
        resolver = arguments.pop("experimental_op_resolver_type", None)
        if resolver is not None:
            arguments["experimental_op_resolver_type"] = module.OpResolverType[resolver]
        delegates = [module.load_delegate(path, options) for path, options in header.get("delegates", [])]
        if delegates:
            arguments["experimental_delegates"] = delegates
        if self._content_fd is not None:
            self._content = _read_all(self._content_fd)
            arguments["model_content"] = self._content
        path = arguments.get("model_path", "")
        self._file_bytes = os.path.getsize(path) if os.path.isfile(path) else len(self._content or b"")
        custom = header.get("custom_op_registerers")
        if custom is not None:
            self._interpreter = module.InterpreterWithCustomOps(custom_op_registerers=custom, **arguments)
        else:
            self._interpreter = module.Interpreter(**arguments)
        self._native = self._interpreter._interpreter
        return {}, b""

    def do_allocate(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Allocate, then say which inputs and outputs have a fixed place."""
        self._enter("allocate")
        self._forget_views()
        self._native.AllocateTensors()
        return self._ends(), b""

    def do_ends(self, header: dict[str, Any], payload: bytes) -> Reply:
        """The same again, after something else than an allocation may have changed it."""
        self._forget_views()
        return self._ends(), b""

    def _ends(self) -> dict[str, Any]:
        """Indices, types and shapes of inputs and outputs, and which have a fixed size and place."""
        self._enter("get")
        native = self._native
        model = tensor_memory.ModelMemory(self._content)
        # A dynamic tensor keeps its memory over an allocation, so what was seen once is not forgotten.
        self._moving = self._moving or tensor_memory.can_move(native)
        self._watched = not self._moving and tensor_memory.may_resize(native, model)
        inputs = [self._end(int(index), model) for index in native.InputIndices()]
        outputs = [self._end(int(index), model) for index in native.OutputIndices()]
        for row in inputs:
            row["fixed"] = row["fixed"] and not row["constant"]
        for row in outputs:
            row["fixed"] = row["fixed"] and not self._moving
        self._shapes = [(row["index"], row["shape"]) for row in outputs if row["fixed"]]
        return {"inputs": inputs, "outputs": outputs, "moving": self._moving}

    def _end(self, index: int, model: tensor_memory.ModelMemory) -> dict[str, Any]:
        native = self._native
        kind = native.TensorType(index, 0)
        shape = [int(size) for size in native.TensorSize(index, 0)]
        if tensor_memory.is_text(kind):
            return {"index": index, "dtype": "", "shape": shape, "fixed": False, "constant": False}
        memory = tensor_memory.view(native, index)
        constant = model.holds(memory)
        return {
            "index": index,
            "dtype": np.dtype(kind).str,
            "shape": shape,
            "fixed": memory is not None,
            "constant": constant,
            "residue": None if constant or self._moving else tensor_overlay.page_residue(memory),
        }

    def share(self, block: Any, descriptor: int, inputs: list[list[int]], outputs: list[list[int]]) -> None:
        """Tie inputs and outputs (index, offset, size) to the shared block."""
        self._forget_views()
        for side, rows in (("inputs", inputs), ("outputs", outputs)):
            self._tied[side] = [(index, block[offset : offset + size]) for index, offset, size in rows]
        if not self._moving:
            self._cover(descriptor, {index: offset for index, offset, _ in (*inputs, *outputs)})
        self._find_again()

    def _cover(self, descriptor: int, offsets: dict[int, int]) -> None:
        """Let large tensors lie in the block itself."""
        pieces = {index: shared for rows in self._tied.values() for index, shared in rows}
        rows = [(i, self._memory(i, shared), shared, offsets[i]) for i, shared in pieces.items()]
        self._overlays = tensor_overlay.cover(descriptor, rows)

    def _lift(self, keep: bool = True) -> None:
        """Give the runtime back what is its own, where it has not given it back to the system already."""
        overlays, self._overlays = self._overlays, {}
        for piece in overlays.values():
            if piece.is_there():
                piece.lift(keep)

    @property
    def overlaid_bytes(self) -> int:
        """Bytes of tensors that lie in the block: the model's own, though not counted as private."""
        return sum(piece.size for piece in self._overlays.values())

    def _find_again(self) -> None:
        """Look up where the tied tensors lie now."""
        inputs, outputs = (
            [(index, self._memory(index, shared), shared) for index, shared in self._tied[side]]
            for side in ("inputs", "outputs")
        )
        self._addresses = self._look_up()
        self._feeds = [pair for row in inputs for pair in self._pieces(*row)]
        self._results = [(ours, theirs) for row in outputs for theirs, ours in self._pieces(*row)]

    def _look_up(self) -> list[int]:
        """Where the tied tensors lie now; 0 for one that lies nowhere."""
        views = [tensor_memory.view(self._native, index) for side in self._tied.values() for index, _ in side]
        return [0 if view is None else tensor_overlay.address(view) for view in views]

    def _pieces(self, index: int, native: Any, shared: Any) -> list[tuple[Any, Any]]:
        """What has to be copied between a tensor and its place in the block."""
        piece = self._overlays.get(index)
        return [(native, shared)] if piece is None else piece.edges(native, shared)

    def _memory(self, index: int, shared: Any) -> Any:
        memory = tensor_memory.view(self._native, index)
        if memory is None or memory.nbytes != shared.nbytes:
            raise RuntimeError("tensor %d has changed its size since it was allocated" % index)
        return memory

    def _forget_views(self) -> None:
        self._lift()
        self._feeds, self._results, self._addresses = [], [], []
        self._tied = {"inputs": [], "outputs": []}

    def do_fill(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Put into the block what the tensors hold now."""
        self._enter("get")
        self._fill()
        return {}, b""

    def _feed(self) -> None:
        """Give the tensors what lies in the block for them, as the next run would."""
        if self._moving:
            self._find_again()
        for native, shared in self._feeds:
            native[:] = shared

    def _fill(self) -> None:
        if self._moving:
            self._find_again()
        for native, shared in self._feeds:
            shared[:] = native
        for shared, native in self._results:
            shared[:] = native

    def do_invoke(self, header: dict[str, Any], payload: bytes) -> Reply:
        """The same as the hot call, with a look at what it did to the tensors: for the first of many."""
        self._enter("invoke")
        self.invoke(first=True)
        if not self._moving:
            self._look_again()
        return {}, b""

    def _look_again(self) -> None:
        """See whether the model has written to its inputs."""
        for index, shared in list(self._tied["inputs"]):
            native = self._memory(index, shared)
            # What lies in the block shows what the model writes; the bytes at its edges have to follow.
            if index in self._overlays or not np.array_equal(
                np.frombuffer(native, np.uint8), np.frombuffer(shared, np.uint8)
            ):
                self._tied["outputs"].append((index, shared))
                self._results += [(ours, theirs) for theirs, ours in self._pieces(index, native, shared)]
        self._fill()

    def do_set(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Set a tensor that has no place in the block: strings, scalars, tensors that are no inputs."""
        self._enter("set")
        index, subgraph = header["index"], header.get("subgraph", 0)
        if header.get("guarded", True) and self._is_constant(index):
            raise CallRefused("constant")
        self._native.SetTensor(index, codec.unpack_array(header, payload), subgraph)
        return {}, b""

    def _is_constant(self, index: int) -> bool:
        native = self._native
        if not 0 <= index < native.NumTensors(0) or tensor_memory.is_text(native.TensorType(index, 0)):
            return False
        return tensor_memory.ModelMemory(self._content).holds(tensor_memory.view(native, index))

    def do_get(self, header: dict[str, Any], payload: bytes) -> Reply:
        """The value of any tensor; of a large one only what it is: it is fetched part by part."""
        self._enter("get")
        index, subgraph = header["index"], header.get("subgraph", 0)
        if subgraph == 0 and index in list(self._native.OutputIndices()):
            row = self._end(index, tensor_memory.ModelMemory(b""))
            memory = tensor_memory.view(self._native, index) if row["dtype"] else None
            if memory is not None and memory.nbytes > header["large"]:
                self._held = [memory]
                head = {"dtype": row["dtype"], "shape": row["shape"], "size": memory.nbytes}
                return {"outputs": [head], "held": True}, b""
        return self._hand_over([self._native.GetTensor(index, subgraph)], header["large"])

    def _hand_over(self, values: list[Any], large: int) -> Reply:
        """Arrays with the answer; if they are large, only what they are: they are fetched part by part."""
        packed = [codec.pack_array(value) for value in values]
        heads, data = [head for head, _ in packed], [data for _, data in packed]
        if sum(head["size"] for head in heads) > large:
            self._held = data
            return {"outputs": heads, "held": True}, b""
        return {"outputs": heads}, b"".join(data)

    def do_part(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Some of the bytes of an array that was announced."""
        self._enter("get")
        data = self._held[header["place"]][header["start"] : header["stop"]]
        if header["last"]:
            self._held = []
        return {}, data

    def do_resize(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Resize an input."""
        self._enter("set")
        self._forget_views()
        size = np.array(header["shape"], dtype=np.int32)
        arguments = [header["index"], size] + ([header["strict"]] if "strict" in header else [])
        self._native.ResizeInputTensor(*arguments)
        return {}, b""

    def do_reset(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Reset variable tensors."""
        self._enter("set")
        self._feed()
        self._native.ResetVariableTensors()
        self._fill()
        return {}, b""

    def do_details(self, header: dict[str, Any], payload: bytes) -> Reply:
        """What one of the interpreter's own questions answers, by its name."""
        self._enter("get")
        question = {
            "inputs": "get_input_details",
            "outputs": "get_output_details",
            "tensors": "get_tensor_details",
            "tensor": "_get_tensor_details",
            "ops": "_get_ops_details",
            "op": "_get_op_details",
            "signatures": "_get_full_signature_list",
            "subgraphs": "num_subgraphs",
        }[header["what"]]
        answer = getattr(self._interpreter, question)(*header.get("arguments", []))
        self._refuse_giant(answer)
        return {}, codec.pack_tree(answer)

    def _refuse_giant(self, answer: Any) -> None:
        """RuntimeError for details with more numbers than the file can hold.

        Blockwise scales are a tensor of the model, and a file of a few bytes can name one of any size.
        """
        most, count = max(_FEWEST_NUMBERS, 4 * self._file_bytes), codec.count_numbers(answer)
        if count > most:
            raise RuntimeError(
                "the details of its tensors have %d numbers, more than a file of %d bytes can hold"
                % (count, self._file_bytes)
            )

    def do_nodes(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Type, inputs and outputs of all nodes of the main graph; those of delegates are at the end."""
        self._enter("get")
        native = self._native
        value = [
            [
                native.NodeName(index),
                [int(tensor) for tensor in native.NodeInputs(index)],
                [int(tensor) for tensor in native.NodeOutputs(index)],
            ]
            for index in range(native.NumNodes())
        ]
        return {}, codec.pack_tree(value)

    def do_shapes(self, header: dict[str, Any], payload: bytes) -> Reply:
        """The shapes of all tensors by subgraph, also of those that have no name and are in no details."""
        self._enter("get")
        native = self._native
        return {}, codec.pack_tree(
            [tensor_memory.shapes(native, index) for index in range(native.NumSubgraphs())]
        )

    def do_signature(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Open a signature: its inputs, outputs and subgraph, or the runtime's complaint."""
        self._enter("load")
        key = header["key"]
        definitions = self._interpreter._get_full_signature_list()
        if key not in definitions:
            raise ValueError('Invalid signature_key provided: "%s".' % key)
        subgraph = self._native.GetSubgraphIndexFromSignature(key)
        return {}, codec.pack_tree(dict(definitions[key], subgraph=subgraph))

    def do_call(self, header: dict[str, Any], payload: bytes) -> Reply:
        """Run a signature as the runtime's own SignatureRunner does, stage by stage."""
        native, subgraph = self._native, header["subgraph"]
        if subgraph == 0:
            self._feed()
            self._forget_views()
        arrays = codec.unpack_arrays(header["inputs"], payload)
        self._enter("allocate")
        for part, array in zip(header["inputs"], arrays):
            native.ResizeInputTensor(part["index"], np.array(array.shape, dtype=np.int32), False, subgraph)
        native.AllocateTensors(subgraph)
        self._enter("set")
        for part, array in zip(header["inputs"], arrays):
            native.SetTensor(part["index"], array, subgraph)
        self._enter("invoke")
        native.Invoke(subgraph)
        self._enter("get")
        values = [native.GetTensor(index, subgraph) for index in header["outputs"]]
        return self._hand_over(values, header["large"])


def _read_all(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    data = bytearray()
    while len(data) < size:
        part = own_process.read_at(descriptor, size - len(data), len(data))
        if not part:
            break
        data += part
    os.close(descriptor)
    return bytes(data)
