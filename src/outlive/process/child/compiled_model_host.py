"""LiteRT's CompiledModel inside a worker, behind the verbs of an interpreter.

The interpreter beside it is never allocated: it answers questions about names, types and quantization, which
a compiled model cannot. Buffers are made to measure, written and read whole: the runtime itself takes short
arrays and wrong types without a word, and writes past the end of an output that is too small.
"""

from __future__ import annotations

import ctypes
import math
import os
from typing import Any

import numpy as np

from . import codec, model_host, runtimes
from .operating_system import own_process

_MOST_REPORT_BYTES = 1 << 20
_ERRORS = 2
_KEEPS_TENSORS = "a compiled model keeps its tensors to itself: only inputs and outputs are available"
# What may be asked of a compiled model by name.
_QUESTIONS = (
    "get_signature_list",
    "get_signature_by_index",
    "get_num_signatures",
    "get_signature_index",
    "get_input_tensor_details",
    "get_output_tensor_details",
    "get_input_buffer_requirements",
    "get_output_buffer_requirements",
    "is_fully_accelerated",
    "resize_input_tensor",
)


class _TensorBuffers:
    """Inputs or outputs of the main signature: what each is, its buffer, its bytes in the shared block."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.buffers: list[Any] = []
        self.tied: list[tuple[dict[str, Any], Any, Any]] = []


class CompiledModelHost(model_host.ModelHost):
    """One compiled model, with its inputs and outputs tied to the shared block."""

    def __init__(self, plain: model_host.ModelHost) -> None:
        """Take the place of a host that has loaded nothing yet."""
        super().__init__(plain._runtime, plain._content_fd, plain._enter)
        self._model: Any = None
        self._signature = 0
        self._key = ""
        self._inputs, self._outputs = _TensorBuffers(), _TensorBuffers()
        self._made: dict[int, tuple[list[Any], list[Any]]] = {}

    # The hot call, and the end.

    def invoke(self, first: bool = False) -> None:
        """Inputs in from the block, run, outputs out to the block."""
        for row, buffer, shared in self._inputs.tied:
            buffer.write(np.frombuffer(shared, row["dtype"]))
        self._model.run_by_index(self._signature, self._inputs.buffers, self._outputs.buffers)
        for row, buffer, shared in self._outputs.tied:
            whole = np.frombuffer(shared, np.uint8)
            whole[:] = buffer.read(row["count"], row["dtype"]).view(np.uint8)

    def close(self) -> None:
        """Free the model; a runtime that dies here dies in stage `free`."""
        self._inputs, self._outputs = _TensorBuffers(), _TensorBuffers()
        self._made.clear()
        self._model = None
        super().close()

    # Loading.

    def do_open(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """Load and compile the model."""
        self._enter("load")
        wanted = header["compiled"]
        os.environ.update(wanted.get("environment", {}))
        for library in wanted.get("libraries", []):
            ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)  # what a plugin wants and would not find by itself
        module = runtimes.interpreter_module(self._runtime)
        source: dict[str, Any] = {}
        if self._content_fd is not None:
            self._content = model_host._read_all(self._content_fd)
            source["model_content"] = self._content
        else:
            source["model_path"] = header["arguments"]["model_path"]
        plain = module.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self._interpreter = module.Interpreter(experimental_op_resolver_type=plain, **source)
        self._native = self._interpreter._interpreter
        self._compile(source, wanted)
        self._key, self._signature = self._main_signature()
        return {}, b""

    def _compile(self, source: dict[str, Any], wanted: dict[str, Any]) -> None:
        from ai_edge_litert import compiled_model as library

        accelerators = library.HardwareAccelerator(0)
        for name in wanted["accelerators"]:
            accelerators |= library.HardwareAccelerator[name]
        options = library.Options(hardware_accelerators=accelerators)
        for group, fields in wanted.get("options", {}).items():
            for name, value in fields.items():
                _set_option(getattr(options, group), name, value)
        if "model_content" in source:
            self._model = library.CompiledModel.from_buffer(source["model_content"], options=options)
        else:
            self._model = library.CompiledModel.from_file(source["model_path"], options=options)

    def _main_signature(self) -> tuple[str, int]:
        """The signature that runs the main subgraph; the first one where none says so."""
        keys = list(self._model.get_signature_list())
        known = self._interpreter._get_full_signature_list()
        for key in keys:
            if key in known and self._native.GetSubgraphIndexFromSignature(key) == 0:
                return key, self._model.get_signature_index(key)
        return keys[0], self._model.get_signature_index(keys[0])

    def _indices(self, side: str) -> dict[str, int]:
        """Tensor indices of the model's file by the names of the signature.

        Those that a compiled model gives are of no use: a compiler plugin numbers the tensors anew.
        """
        names = self._model.get_signature_list()[self._key][side]
        known = self._interpreter._get_full_signature_list().get(self._key)
        if known is not None:
            return {name: int(known[side][name]) for name in names}
        return dict(zip(names, self._file_indices(side)))

    def _file_indices(self, side: str) -> list[int]:
        """Inputs or outputs in the order of the interpreter, which is not always that of the signature."""
        native = self._native
        return [int(i) for i in (native.InputIndices() if side == "inputs" else native.OutputIndices())]

    def _tensor_details(self, side: str, key: str) -> dict[str, Any]:
        model = self._model
        find = model.get_input_tensor_details if side == "inputs" else model.get_output_tensor_details
        found: dict[str, Any] = find(key)
        return found

    # Allocating and tying.

    def do_allocate(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """Make the buffers, and say what they hold."""
        self._enter("allocate")
        self._forget_views()
        return self._ends(), b""

    def _ends(self) -> dict[str, Any]:
        for side, ends in (("inputs", self._inputs), ("outputs", self._outputs)):
            details = self._tensor_details(side, self._key)
            ends.rows = [_row(details[name], index) for name, index in self._indices(side).items()]
        self._inputs.buffers = self._model.create_input_buffers(self._signature)
        self._outputs.buffers = self._model.create_output_buffers(self._signature)
        for place, row in enumerate(self._outputs.rows):
            size = self._model.get_output_buffer_requirements(place, self._signature)["buffer_size"]
            if size < row["count"] * np.dtype(row["dtype"]).itemsize:
                raise RuntimeError("output %d has room for %d bytes only" % (row["index"], size))
        inputs = self._ordered("inputs", self._inputs.rows)
        return {"inputs": inputs, "outputs": self._ordered("outputs", self._outputs.rows), "moving": False}

    def _ordered(self, side: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The ends as an answer has them, in the order of the interpreter."""
        known = {row["index"]: row for row in rows}
        return [
            {
                "index": index,
                "dtype": np.dtype(known[index]["dtype"]).str,
                "shape": known[index]["shape"],
                "fixed": known[index]["count"] > 0,
                "constant": False,
                "residue": None,
            }
            for index in self._file_indices(side)
            if index in known
        ]

    def share(self, block: Any, descriptor: int, inputs: list[list[int]], outputs: list[list[int]]) -> None:
        """Tie inputs and outputs (index, offset, size) to the shared block."""
        for ends, table in ((self._inputs, inputs), (self._outputs, outputs)):
            known = {row["index"]: (row, buffer) for row, buffer in zip(ends.rows, ends.buffers)}
            ends.tied = [(*known[index], block[offset : offset + size]) for index, offset, size in table]

    def _forget_views(self) -> None:
        self._inputs.tied, self._outputs.tied = [], []
        super()._forget_views()

    def do_fill(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """What the buffers hold is in the block already."""
        return {}, b""

    def do_invoke(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """The same as the hot call, for the first of many."""
        self._enter("invoke")
        self.invoke(first=True)
        return {}, b""

    # Everything else.

    def do_report(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """What the accelerators have printed so far, and whether they took all."""
        full = None if self._model is None else bool(self._model.is_fully_accelerated())
        size = min(os.fstat(_ERRORS).st_size, _MOST_REPORT_BYTES)
        return {"fully_accelerated": full}, own_process.read_at(_ERRORS, size, 0)

    def do_compiled(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """One of the compiled model's own questions, by its name."""
        name = header["call"]
        if name not in _QUESTIONS:
            raise ValueError("unknown question %r" % name)
        self._enter("set" if name == "resize_input_tensor" else "get")
        if name == "resize_input_tensor":
            self._made.clear()
        return {}, codec.pack_tree(getattr(self._model, name)(*header["arguments"]))

    def do_run(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """Run any signature on the arrays that come with the call; what it computes goes back."""
        arrays = codec.unpack_arrays(header["inputs"], payload)
        return self._hand_over(self._run(header["signature"], arrays), header["large"])

    def _run(self, signature: int, arrays: list[Any]) -> list[Any]:
        self._enter("allocate")
        if signature not in self._made:
            made = self._model.create_input_buffers(signature), self._model.create_output_buffers(signature)
            self._made[signature] = made
        inputs, outputs = self._made[signature]
        self._enter("set")
        for array, buffer in zip(arrays, inputs):
            buffer.write(array)
        self._enter("invoke")
        self._model.run_by_index(signature, inputs, outputs)
        self._enter("get")
        rows = [_row(buffer.get_tensor_details(), 0) for buffer in outputs]
        return [_read(buffer, row) for buffer, row in zip(outputs, rows)]

    def do_set(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """Inputs of fixed size have their place in the block: this is for others, which cannot be set."""
        raise ValueError(_KEEPS_TENSORS)

    def do_get(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """The value of an output."""
        self._enter("get")
        for row, buffer in zip(self._outputs.rows, self._outputs.buffers):
            if row["index"] == header["index"] and not header.get("subgraph", 0):
                return self._hand_over([_read(buffer, row)], header["large"])
        raise ValueError(_KEEPS_TENSORS)

    def do_resize(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """Resize an input."""
        self._enter("set")
        self._forget_views()
        for place, index in enumerate(self._indices("inputs").values()):
            if index == header["index"]:
                self._model.resize_input_tensor(place, header["shape"], self._signature, strict=False)
                return {}, b""
        raise ValueError("tensor %d is no input" % header["index"])

    def do_reset(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """There is no such call for a compiled model."""
        raise RuntimeError("a compiled model cannot reset its variables; open it again")

    def do_details(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """As the interpreter answers, with the shapes that were compiled."""
        if header["what"] not in ("inputs", "outputs"):
            return super().do_details(header, payload)
        self._enter("get")
        side, plain = header["what"], self._interpreter
        rows = plain.get_input_details() if side == "inputs" else plain.get_output_details()
        compiled = self._tensor_details(side, self._key)
        shapes = {index: compiled[name]["shape"] for name, index in self._indices(side).items()}
        for row in rows:
            if row["index"] in shapes:
                row["shape"] = np.array(shapes[row["index"]], np.int32)
        return {}, codec.pack_tree(rows)

    def do_call(self, header: dict[str, Any], payload: bytes) -> model_host.Reply:
        """Run a signature, by its subgraph; inputs of another shape are resized first."""
        known = self._interpreter._get_full_signature_list()
        keys = [k for k in known if self._native.GetSubgraphIndexFromSignature(k) == header["subgraph"]]
        if not keys:
            raise ValueError("no signature runs subgraph %d" % header["subgraph"])
        key, names = keys[0], self._model.get_signature_list()[keys[0]]
        signature = self._model.get_signature_index(key)
        # The arrays come in the caller's order, and go in the signature's.
        given = dict(
            zip((part["index"] for part in header["inputs"]), codec.unpack_arrays(header["inputs"], payload))
        )
        arrays = [given[int(known[key]["inputs"][name])] for name in names["inputs"]]
        self._resize_for(signature, [list(array.shape) for array in arrays])
        made = self._run(signature, arrays)
        order = {int(known[key]["outputs"][name]): place for place, name in enumerate(names["outputs"])}
        return self._hand_over([made[order[index]] for index in header["outputs"]], header["large"])

    def _resize_for(self, signature: int, shapes: list[list[int]]) -> None:
        key = list(self._model.get_signature_list())[signature]
        details = self._tensor_details("inputs", key)
        names = self._model.get_signature_list()[key]["inputs"]
        for place, (name, shape) in enumerate(zip(names, shapes)):
            if list(details[name]["shape"]) != list(shape):
                self._enter("set")
                self._model.resize_input_tensor(place, list(shape), signature, strict=False)
                self._made.pop(signature, None)


def _row(details: dict[str, Any], index: int) -> dict[str, Any]:
    shape = [int(size) for size in details["shape"]]
    if any(size < 0 for size in shape):
        raise RuntimeError("a tensor whose size is known only after a run is not available: %s" % shape)
    return {"index": index, "dtype": str(details["dtype"]), "shape": shape, "count": math.prod(shape)}


def _read(buffer: Any, row: dict[str, Any]) -> Any:
    return buffer.read(row["count"], row["dtype"]).reshape(row["shape"])


def _set_option(group: Any, name: str, value: Any) -> None:
    """Set an option by name; one that is an enumeration takes the name of a value."""
    if not hasattr(group, name):
        raise ValueError("unknown option %r; %s has %s" % (name, type(group).__name__, _names(group)))
    from ai_edge_litert import options as known

    kinds = {
        "kernel_mode": known.CpuKernelMode,
        "graph_backend": known.IntelOpenVinoGraphBackend,
        "performance_mode": known.IntelOpenVinoPerformanceMode,
    }
    setattr(group, name, kinds[name][value] if name in kinds and isinstance(value, str) else value)


def _names(group: Any) -> str:
    return ", ".join(name for name in vars(group) if not name.startswith("_"))
