"""The drop-in: LiteRT's Interpreter, call for call, in a process that may die without taking yours along."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from outlive.errors import OutliveError
from outlive.interpreter.affine import affine_of, dequantize, find_row, quantize
from outlive.interpreter.engine import Engine
from outlive.interpreter.judge import Judge
from outlive.interpreter.ladder import LADDER, explained, opening_on, stand, why_left
from outlive.interpreter.options import Delegate, OpResolverType, make_opening
from outlive.interpreter.session import Opening
from outlive.interpreter.shared_tensors import hand_out
from outlive.interpreter.signature import SignatureRunner
from outlive.process import answers
from outlive.process.flight import Flight
from outlive.process.limits import Limits

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_REPORT_BYTES = 1 << 20


class WorkerInterpreter(Engine):
    """LiteRT's Interpreter in a worker. `outlive.Interpreter` is this one with a judge that knows the rules.

    What opens one for itself hands the judge in (`_judge`); without one, `Unjudged` is raised in place of
    every error that has a finding.
    """

    def __init__(
        self,
        model_path: Any = None,
        model_content: Any = None,
        experimental_delegates: Sequence[Delegate] | None = None,
        num_threads: int | None = None,
        experimental_op_resolver_type: Any = OpResolverType.AUTO,
        experimental_preserve_all_tensors: bool = False,
        experimental_disable_delegate_clustering: bool = False,
        experimental_default_delegate_latest_features: bool = False,
        experimental_compress_quantization_zero_points: bool = False,
        experimental_disable_delegate_node_fusion: bool = False,
        experimental_force_delegate_node_profiling: bool = False,
        *,
        memory: str | int | None = None,
        seconds: float | None = None,
        on_death: str = "raise",
        runtime: str = "litert",
        python: str | None = None,
        accelerator: str | None = None,
        ladder: Sequence[str] = LADDER,
        sandbox: str | None = None,
        _custom_ops: Sequence[str] | None = None,
        _watch: Callable[[int], None] | None = None,
        _environment: Mapping[str, str] | None = None,
        _compiled: dict[str, Any] | None = None,
        _judge: Judge | None = None,
    ) -> None:
        """Start a worker and load the model in it."""
        if on_death not in ("raise", "restart"):
            raise ValueError(f"on_death is 'raise' or 'restart', not {on_death!r}")
        flags = {
            "experimental_preserve_all_tensors": experimental_preserve_all_tensors,
            "experimental_disable_delegate_clustering": experimental_disable_delegate_clustering,
            "experimental_default_delegate_latest_features": experimental_default_delegate_latest_features,
            "experimental_compress_quantization_zero_points": experimental_compress_quantization_zero_points,
            "experimental_disable_delegate_node_fusion": experimental_disable_delegate_node_fusion,
            "experimental_force_delegate_node_profiling": experimental_force_delegate_node_profiling,
        }
        opening = make_opening(
            judge=_judge or self._judge,
            model_path=model_path,
            model_content=model_content,
            delegates=experimental_delegates,
            num_threads=num_threads,
            resolver=experimental_op_resolver_type,
            flags=flags,
            limits=Limits(memory=memory, seconds=seconds),
            runtime=runtime,
            python=python,
            custom_ops=_custom_ops,
            watch=_watch,
            environment=_environment,
            compiled=_compiled,
            sandbox=sandbox,
        )
        self._compressed = experimental_compress_quantization_zero_points
        opening, self._ladder = stand(opening, accelerator, ladder, type(self)._of)
        with explained(self._ladder, opening.judge):
            super().__init__(opening, restart=on_death == "restart")

    @classmethod
    def _of(cls, opening: Opening) -> Self:
        """An interpreter for an opening as it is, without a ladder."""
        made = cls.__new__(cls)
        made._compressed, made._ladder = False, None
        Engine.__init__(made, opening, restart=False)
        return made

    # What LiteRT has.

    def allocate_tensors(self) -> None:
        """Make room for all tensors."""
        with self._lock:
            self._ensure_safe()
            self._stand()
            self._set_aside()
            try:
                self._session.allocate()
                self._lay_slots()
            except BaseException as error:
                self._note(error)
                if not self._steps_down(error, allocate=True):
                    raise
            self._fresh, self._computed = True, False

    def invoke(self) -> None:
        """Run the model on its inputs."""
        with self._lock:
            self._ensure_safe()
            if self._upset:
                self._stand()
            if self._desk.shared:
                self._load_own()
            try:
                moved = self._session.invoke(self._fresh)
            except BaseException as error:
                self._note(error)
                if not self._steps_down(error):
                    raise
                return self.invoke()
            if self._fresh or self._session.moving:
                self._details = {}  # a first run makes temporary tensors, and dynamic ones get their shapes
                self._fresh, self._unset = False, self._never_set()
                self._computed = not self._unset  # if not: whoever reads an output is told first
            if moved:
                self._slots = {}
                self._upset = self._stale = True
            if self._desk.shared:
                self._desk.keep(self._all_outputs())

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Fill an input. The value is checked before any memory is touched."""
        with self._lock:
            slot = self._slots.get(tensor_index)
            if (
                slot is not None
                and slot.is_set
                and self._desk.alone()
                and type(value) is np.ndarray
                and value.dtype == slot.dtype
                and value.shape == slot.shape
            ):
                slot.array[...] = value
                return
            self._set_slowly(tensor_index, value)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> Any:
        """The value of a tensor, as a copy."""
        with self._lock:
            own = self._own_value(tensor_index) if self._desk.shared and not subgraph_index else None
            if own is not None:
                return hand_out(own.copy())
            slot = None if subgraph_index else self._slots.get(tensor_index)
            if slot is not None and (self._computed or slot.is_input):
                return slot.array.copy()
            return self._get_slowly(tensor_index, subgraph_index)

    def tensor(self, tensor_index: int) -> Callable[[], Any]:
        """A function that gives a view of an input or output (of other tensors, a copy)."""
        self._note_given(tensor_index)  # what is written to a view is seen by nobody

        def view() -> Any:
            with self._lock:
                self._stand()
                slot = self._slots.get(tensor_index)
                if slot is None:
                    return self.get_tensor(tensor_index)
                self._session.worker.block.hand_out(self._addresses)
                start = slot.end.offset or 0
                return self._keeper[start : start + slot.end.size].view(slot.dtype).reshape(slot.shape)

        return view

    def resize_tensor_input(self, input_index: int, tensor_size: Any, strict: bool = False) -> None:
        """Give an input another shape; allocate again afterwards."""
        with self._lock:
            self._ensure_safe()
            self._stand()
            shape = [int(size) for size in np.array(tensor_size, dtype=np.int32).ravel()]
            self._set_aside()
            with self._minding():
                self._session.resize(int(input_index), shape, bool(strict))

    def reset_all_variables(self) -> None:
        """Set all variables back."""
        self._ask({"do": "reset"})

    def get_input_details(self) -> list[dict[str, Any]]:
        """Name, index, shape, type and quantization of each input."""
        found: list[dict[str, Any]] = self._detail("inputs")
        return found

    def get_output_details(self) -> list[dict[str, Any]]:
        """Name, index, shape, type and quantization of each output."""
        found: list[dict[str, Any]] = self._detail("outputs")
        return found

    def get_tensor_details(self, subgraph_index: int = 0) -> list[dict[str, Any]]:
        """The same for every tensor of a subgraph."""
        found: list[dict[str, Any]] = self._detail("tensors", subgraph_index)
        return found

    def num_subgraphs(self) -> int:
        """How many subgraphs the model has."""
        return int(self._detail("subgraphs"))

    def get_signature_list(self) -> dict[str, Any]:
        """The signatures by key, each with the names of its inputs and outputs."""
        full = self._get_full_signature_list()
        return {
            key: {**one, "inputs": list(one["inputs"]), "outputs": list(one["outputs"])}
            for key, one in full.items()
        }

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """A callable for a signature; the key may be left out if there is only one."""
        if signature_key is None:
            keys = list(self._get_full_signature_list())
            if len(keys) != 1:
                raise ValueError(
                    f"SignatureDef signature_key is None and model has {len(keys)} Signatures. "
                    "None is only allowed when the model has 1 SignatureDef"
                )
            signature_key = keys[0]
        describe = self._get_tensor_details
        return SignatureRunner(self._open_signature, describe, self._run_subgraph, signature_key)

    def _open_signature(self, key: str) -> dict[str, Any]:
        found: dict[str, Any] = self._ask_about("signature", {"do": "signature", "key": key})
        return found

    @property
    def experimental_compress_quantization_zero_points(self) -> bool:
        """As it was given."""
        return self._compressed

    def _get_full_signature_list(self) -> dict[str, Any]:
        found: dict[str, Any] = self._detail("signatures")
        return found

    def _get_ops_details(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._detail("ops")
        return found

    def _get_op_details(self, op_index: int) -> dict[str, Any]:
        found: dict[str, Any] = self._detail("op", op_index)
        return found

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = self._detail("tensor", tensor_index, subgraph_index)
        return found

    # What LiteRT does not have.

    def quantize_input(self, input: int | str, values: Any) -> Any:
        """Real numbers as the integers that an input, by index or name, takes; give them to `set_tensor`.

        With the model's own scale and zero point. For an input that is not quantized, the values in its type.
        """
        return quantize(affine_of(find_row(self.get_input_details(), input)), values)

    def dequantize_output(self, output: int | str) -> Any:
        """The value of an output, by index or name, as the real numbers it stands for."""
        row = find_row(self.get_output_details(), output)
        return dequantize(affine_of(row), self.get_tensor(row["index"]))

    @property
    def accelerator(self) -> str:
        """What runs the model: what was asked for, or what the ladder came to; empty if nobody asked."""
        return "" if self._ladder is None else self._ladder.current

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """The accelerators that `accelerator="auto"` left out or left, each with the reason."""
        return () if self._ladder is None else tuple(self._ladder.skipped)

    def _steps_down(self, error: BaseException, allocate: bool = False) -> bool:
        """Go on with the next accelerator of the ladder; False if there is none, or no reason to."""
        why = why_left(error) if self._ladder is not None else ""
        while why and self._ladder is not None and not self._closed:
            name = self._ladder.step(why)
            if name is None:
                return False
            try:
                self._session.change(partial(opening_on, name=name), allocate)
                self._start_again()
                self._upset = False
                return True
            except OutliveError as next_error:
                why = why_left(next_error)
        return False

    @property
    def flight(self) -> Flight | None:
        """The record of the last death; None while all is well."""
        return self._session.flight

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._session.worker.pid

    def tensor_shapes(self) -> list[list[list[int] | None]]:
        """The shape of every tensor of every subgraph, temporaries and nameless ones included."""
        shapes: list[list[list[int] | None]] = self._ask_about("shapes", {"do": "shapes"})
        return shapes

    def report(self) -> tuple[bool | None, str]:
        """Of a compiled model: whether accelerators took all of it, and what they have printed."""

        def read(report: answers.Report, said: memoryview) -> tuple[bool | None, str]:
            return report.fully_accelerated, bytes(said).decode("utf-8", "replace")

        found: tuple[bool | None, str] = self._ask({"do": "report"}, most_bytes=_MOST_REPORT_BYTES, read=read)
        return found

    def story(self) -> Flight:
        """The record of the run so far, while all is well."""
        with self._lock:
            told = self._story()
        if self._ladder is None:
            return told
        stand = {"accelerator": self._ladder.current, "skipped": [list(pair) for pair in self.skipped]}
        return replace(told, runtime={**told.runtime, **stand})

    def kill(self) -> None:
        """End the worker at once, without freeing anything; a call of another thread ends with an error."""
        self._closed = self._upset = True
        worker = self._session.worker
        with contextlib.suppress(OSError):
            worker.strike()
            if self._lock.acquire(blocking=False):
                try:
                    worker.kill()
                finally:
                    self._lock.release()

    def close(self) -> None:
        """Free the interpreter and end its worker; `ModelDied` if freeing kills it."""
        with self._lock:
            self._slots, self._details = {}, {}
            done, self._closed, self._upset = self._closed, True, True
            if done or self._session.owner != os.getpid() or self._session.flight is not None:
                return
            flight = self._session.worker.stop()
            if flight is None:
                return
            death = self._session.death(flight)
            # One that was ended between two calls, for the memory it held, has nothing left to free.
            if flight.ended_by != "memory":
                raise death

    def __enter__(self) -> Self:
        """The interpreter itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the worker."""
        self.close()
