"""The drop-in for LiteRT's CompiledModel, which compiles and runs in a worker and not in your process."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from outlive.interpreter.interpreter_options import make_options
from outlive.interpreter.ladder import GPU_INSTALL, CompiledWay, absent, cpu_way, gpu_way, npu_way
from outlive.interpreter.session import Session
from outlive.process.child import codec
from outlive.process.flight import Flight
from outlive.process.limits import Limits
from outlive.verbs.judging import JUDGE
from outlive.verbs.tensor_buffer import TensorBuffer

__all__ = ["CompiledModel", "HardwareAccelerator", "TensorBuffer"]

_GROUPS = ("cpu_options", "gpu_options", "qualcomm_options", "intel_openvino_options")


class HardwareAccelerator(enum.IntFlag):
    """The accelerator to compile for; names and values as in LiteRT (litert/c/litert_common.h)."""

    CPU = 1
    GPU = 2
    NPU = 4


class CompiledModel:
    """Compiles and runs a model in a worker process; methods and results as LiteRT's own CompiledModel.

    More than LiteRT has: `memory` and `seconds` limit it; buffers check what is written and read; a death is
    `ModelDied` with a finding. `options` are LiteRT's own Options, or a mapping of groups to options.
    """

    def __init__(self, session: Session) -> None:
        """For `from_file` and `from_buffer`, which make one."""
        self._session = session
        self._closed = False
        self._warned_of_unset = False

    @classmethod
    def from_file(
        cls,
        model_path: str,
        hardware_accel: int | None = None,
        environment: Any = None,
        options: Any = None,
        *,
        memory: str | int | None = None,
        seconds: float | None = None,
        sandbox: str | None = None,
    ) -> CompiledModel:
        """Compile a model in a file."""
        order = _order(hardware_accel, environment, options)
        return cls(_open(order, Limits(memory=memory, seconds=seconds), sandbox, model_path=model_path))

    @classmethod
    def from_buffer(
        cls,
        model_data: bytes,
        hardware_accel: int | None = None,
        environment: Any = None,
        options: Any = None,
        *,
        memory: str | int | None = None,
        seconds: float | None = None,
        sandbox: str | None = None,
    ) -> CompiledModel:
        """Compile a model in memory."""
        order = _order(hardware_accel, environment, options)
        return cls(_open(order, Limits(memory=memory, seconds=seconds), sandbox, model_content=model_data))

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """The signatures by key, each with the names of its inputs and outputs."""
        return dict(self._call("get_signature_list"))

    def get_signature_by_index(self, index: int) -> dict[str, Any]:
        """A signature by its place; ValueError for one that there is not, of which LiteRT itself dies."""
        self._rows(index)
        return dict(self._call("get_signature_by_index", int(index)))

    def get_num_signatures(self) -> int:
        """How many signatures there are."""
        return int(self._call("get_num_signatures"))

    def get_signature_index(self, key: str) -> int:
        """The place of a signature; -1 if there is none of that name."""
        return int(self._call("get_signature_index", str(key)))

    def get_input_tensor_details(self, signature_key: str) -> dict[str, Any]:
        """Name, index, type and shape of each input, as compiled now."""
        return dict(self._call("get_input_tensor_details", str(signature_key)))

    def get_output_tensor_details(self, signature_key: str) -> dict[str, Any]:
        """Name, index, type and shape of each output, as compiled now."""
        return dict(self._call("get_output_tensor_details", str(signature_key)))

    def get_input_buffer_requirements(self, input_index: int, signature_index: int = 0) -> dict[str, Any]:
        """What the buffer of an input has to be."""
        _check_place("input", input_index, self._rows(signature_index)[0])
        return dict(self._call("get_input_buffer_requirements", int(input_index), int(signature_index)))

    def get_output_buffer_requirements(self, output_index: int, signature_index: int = 0) -> dict[str, Any]:
        """What the buffer of an output has to be."""
        _check_place("output", output_index, self._rows(signature_index)[1])
        return dict(self._call("get_output_buffer_requirements", int(output_index), int(signature_index)))

    def is_fully_accelerated(self) -> bool:
        """True if the accelerator took all of the model."""
        return bool(self._call("is_fully_accelerated"))

    def create_input_buffer_by_name(self, signature_key: str, input_name: str) -> TensorBuffer:
        """A buffer for one input."""
        return TensorBuffer(_find(self.get_input_tensor_details(signature_key), input_name, "input"))

    def create_output_buffer_by_name(self, signature_key: str, output_name: str) -> TensorBuffer:
        """A buffer for one output."""
        return TensorBuffer(_find(self.get_output_tensor_details(signature_key), output_name, "output"))

    def create_input_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """A buffer for each input, in the signature's order."""
        return [TensorBuffer(row) for row in self._rows(signature_index)[0]]

    def create_output_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """A buffer for each output, in the signature's order."""
        return [TensorBuffer(row) for row in self._rows(signature_index)[1]]

    def resize_input_tensor(
        self, input_index: int, dims: Sequence[int], signature_index: int = 0, strict: bool = True
    ) -> None:
        """Give an input another shape; make new buffers afterwards."""
        _check_place("input", input_index, self._rows(signature_index)[0])
        sizes = [int(size) for size in dims]
        self._call("resize_input_tensor", int(input_index), sizes, int(signature_index), bool(strict))

    def resize_input_tensor_by_name(
        self, signature_key: str, input_name: str, dims: Sequence[int], strict: bool = True
    ) -> None:
        """Give an input another shape, by its name."""
        names = self.get_signature_list().get(signature_key)
        if names is None:
            raise ValueError(f"Unknown signature: {signature_key}")
        if input_name not in names["inputs"]:
            raise ValueError(f"Unknown input '{input_name}' for signature '{signature_key}'")
        place = names["inputs"].index(input_name)
        self.resize_input_tensor(place, dims, self.get_signature_index(signature_key), strict)

    def run_by_name(
        self,
        signature_key: str,
        input_map: Mapping[str, TensorBuffer],
        output_map: Mapping[str, TensorBuffer],
    ) -> None:
        """Run a signature with buffers by name; `InputError` for one that is missing or does not fit."""
        names = self.get_signature_list().get(signature_key)
        if names is None:
            raise ValueError(f"Unknown signature: {signature_key}")
        inputs = [_find(input_map, name, "input") for name in names["inputs"]]
        outputs = [_find(output_map, name, "output") for name in names["outputs"]]
        self.run_by_index(self.get_signature_index(signature_key), inputs, outputs)

    def run_by_index(
        self,
        signature_index: int,
        input_buffers: Sequence[TensorBuffer],
        output_buffers: Sequence[TensorBuffer],
    ) -> None:
        """Run a signature with buffers in its order; ValueError for one that is missing or does not fit."""
        inputs, outputs = self._rows(signature_index)
        _check("input", inputs, input_buffers)
        _check("output", outputs, output_buffers)
        packed = [codec.pack_array(buffer.value()) for buffer in input_buffers]
        order = {"do": "run", "signature": int(signature_index), "inputs": [header for header, _ in packed]}
        session = self._open_session()
        with session.exclusive():
            values = session.ask_values(order, len(output_buffers), [data for _, data in packed])
        for value, buffer in zip(values, output_buffers, strict=True):
            buffer.take(value)
        self._warn_of_unset(inputs, input_buffers)

    def _warn_of_unset(self, rows: Sequence[Any], buffers: Sequence[TensorBuffer]) -> None:
        """Say once that outputs were computed from input buffers that were never written to (S709)."""
        unset = [
            str(row["name"]) for row, buffer in zip(rows, buffers, strict=True) if not buffer.was_written
        ]
        if unset and not self._warned_of_unset:
            self._warned_of_unset = True
            # A compiled model has names of a signature's inputs, not the indices of their tensors.
            missing = tuple((-1, name) for name in unset)
            seen = replace(self._session.story(), source=self._session.options.source)
            JUDGE.warn(replace(seen, unset_inputs=missing, unset_by="compiled_model"), stacklevel=4)

    @property
    def flight(self) -> Flight | None:
        """The record of the worker's death; None while all is well."""
        return self._session.flight

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._session.worker.pid

    def close(self) -> None:
        """Free the model and end its worker."""
        if not self._closed:
            self._closed = True
            self._session.worker.stop()

    def __enter__(self) -> CompiledModel:
        """The model itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the worker."""
        self.close()

    def _rows(self, signature_index: int) -> tuple[list[Any], list[Any]]:
        keys = list(self.get_signature_list().items())
        if not 0 <= signature_index < len(keys):
            raise ValueError(f"unknown signature {signature_index}; the model has {len(keys)}")
        key, names = keys[signature_index]
        given, made = self.get_input_tensor_details(key), self.get_output_tensor_details(key)
        return [given[name] for name in names["inputs"]], [made[name] for name in names["outputs"]]

    def _call(self, name: str, *arguments: Any) -> Any:
        order = {"do": "compiled", "call": name, "arguments": list(arguments)}
        session = self._open_session()
        with session.exclusive():
            return session.ask_about(name, order)

    def _open_session(self) -> Session:
        if self._closed:
            raise RuntimeError("this model is closed and its worker has ended; compile it again")
        return self._session


def _open(order: dict[str, Any], limits: Limits, sandbox: str | None, **source: Any) -> Session:
    return Session(make_options(judge=JUDGE, limits=limits, compiled=order, sandbox=sandbox, **source))


def _order(hardware_accel: int | None, environment: Any, options: Any) -> dict[str, Any]:
    """The order for the worker: the accelerators with what they need here, and the user's options."""
    if environment is not None:
        raise TypeError("an environment of LiteRT's lives in one process and cannot move to the worker")
    if options is not None and hardware_accel is not None:
        raise ValueError("Pass either options or hardware_accel, not both.")
    wanted = HardwareAccelerator(int(hardware_accel or _asked(options) or HardwareAccelerator.CPU))
    order: dict[str, Any] = cpu_way().to_order(_groups(options))
    order["accelerators"] = [one.name for one in HardwareAccelerator if one in wanted]
    ways: dict[HardwareAccelerator, CompiledWay] = {}
    if HardwareAccelerator.GPU in wanted:
        ways[HardwareAccelerator.GPU] = gpu_way()
    if HardwareAccelerator.NPU in wanted:
        ways[HardwareAccelerator.NPU] = npu_way()
    for kind, way in ways.items():
        if way.missing:
            raise absent(JUDGE, str(kind.name).lower(), way.missing, way.install or GPU_INSTALL)
        order["environment"].update(way.environment)
        order["libraries"] += way.libraries
    return order


def _asked(options: Any) -> int:
    """The accelerators that LiteRT's Options name; a mapping may have them by the same name."""
    if isinstance(options, Mapping):
        return int(options.get("hardware_accelerators", 0))
    return int(getattr(options, "hardware_accelerators", 0))


def _groups(options: Any) -> dict[str, dict[str, Any]]:
    """The options by group: as a mapping, or from LiteRT's Options without importing them."""
    if isinstance(options, Mapping):
        return {name: dict(options[name]) for name in _GROUPS if name in options}
    found = {}
    for name in _GROUPS:
        group = getattr(options, f"_{name}", None)
        if is_dataclass(group):
            known = {field.name: getattr(group, field.name) for field in fields(group)}
            found[name] = {key: _plain(value) for key, value in known.items() if value is not None}
    return found


def _plain(value: Any) -> Any:
    return value.name if isinstance(value, enum.Enum) else value


def _find(rows: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in rows:
        raise ValueError(f"no {what} is named {name!r}; choose from {', '.join(map(repr, rows)) or 'none'}")
    return rows[name]


def _check_place(what: str, place: int, rows: Sequence[Any]) -> None:
    if not 0 <= place < len(rows):
        raise ValueError(f"there is no {what} {place}; the signature has {len(rows)}")


def _check(what: str, rows: Sequence[Any], buffers: Sequence[TensorBuffer]) -> None:
    if len(rows) != len(buffers):
        raise ValueError(f"the signature has {len(rows)} {what}s, and {len(buffers)} buffers were given")
    for place, (row, buffer) in enumerate(zip(rows, buffers, strict=True)):
        if not buffer.fits(row):
            held, wanted = buffer.get_tensor_details(), f"{row['dtype']} {list(row['shape'])}"
            raise ValueError(
                f"{what} {place} is {wanted}, and its buffer holds {held['dtype']} {held['shape']}: "
                "make buffers anew after a resize"
            )
