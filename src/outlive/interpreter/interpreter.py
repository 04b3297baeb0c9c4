"""The drop-in: LiteRT's Interpreter, call for call, in a process that may die without taking yours along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from outlive.errors import OutliveError
from outlive.finding import Finding
from outlive.interpreter.affine import affine_of, dequantize, find_row, quantize
from outlive.interpreter.array_facts import see_tensor, with_outputs
from outlive.interpreter.interpreter_options import Delegate, InterpreterOptions, OpResolverType, make_options
from outlive.interpreter.judge import Judge
from outlive.interpreter.ladder import LADDER, choose_accelerator, missing_gpu_explained, opened_on, why_left
from outlive.interpreter.session import SessionState
from outlive.interpreter.shared_tensors import Results, SharedTensors, Tensors, hand_out
from outlive.interpreter.signature import SignatureRunner
from outlive.process import answers
from outlive.process.child import codec
from outlive.process.flight import Flight, InsideSeen, ask_delegation
from outlive.process.limits import Limits

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_REPORT_BYTES = 1 << 20
# Looked up in every call: as globals, which takes less time than as members of their enums.
_READY, _COMPUTED = SessionState.READY, Results.COMPUTED


class WorkerInterpreter:
    """LiteRT's Interpreter in a worker. `outlive.Interpreter` is this one with a judge that knows the rules.

    What opens one for itself hands the judge in (`_judge`); without one, `Unjudged` is raised in place of
    every error that has a finding.
    """

    _judge = Judge()

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
        options = make_options(
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
        options, steps = choose_accelerator(options, accelerator, ladder, type(self)._of)
        with missing_gpu_explained(steps, options.judge):
            self._open(options, on_death == "restart")
        self._compressed, self._ladder = experimental_compress_quantization_zero_points, steps

    def _open(self, options: InterpreterOptions, restart_after_death: bool) -> None:
        self._compressed, self._ladder = False, None
        self._judge, self.brings_xnnpack = options.judge, options.brings_xnnpack
        self._tensors = SharedTensors(options, restart_after_death)
        self._session = self._tensors.session

    @classmethod
    def _of(cls, options: InterpreterOptions) -> Self:
        """An interpreter with these options as they are, without a ladder."""
        made = cls.__new__(cls)
        made._open(options, restart_after_death=False)
        return made

    # What LiteRT has.

    def allocate_tensors(self) -> None:
        """Make room for all tensors."""
        tensors = self._tensors
        with self._session.lock:
            tensors.check_no_views()
            tensors.ready()
            try:
                tensors.allocate()
            except BaseException as error:
                self._session.note_failure(error)
                if not self._steps_down(error, allocate=True):
                    raise
            tensors.first_run, tensors.results = True, Results.NONE

    def invoke(self) -> None:
        """Run the model on its inputs."""
        session, tensors = self._session, self._tensors
        with session.lock:
            tensors.check_no_views()
            if session.state is not _READY:
                tensors.ready()
            if tensors.per_thread.shared:
                tensors.load_own_inputs()
            try:
                moved = session.invoke(tensors.first_run)
            except BaseException as error:
                session.note_failure(error)
                if not self._steps_down(error):
                    raise
                return self.invoke()
            if tensors.first_run or tensors.moving:
                tensors.note_run()
            if moved:
                tensors.note_moved()
            if tensors.per_thread.shared:
                tensors.per_thread.keep(tensors.all_outputs())

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Fill an input. The value is checked before any memory is touched."""
        tensors = self._tensors
        with self._session.lock:
            slot = tensors.slots.get(tensor_index)
            if (
                slot is not None
                and slot.is_set
                and tensors.per_thread.alone()
                and type(value) is np.ndarray
                and value.dtype == slot.dtype
                and value.shape == slot.shape
            ):
                slot.array[...] = value
                return
            tensors.set_value(tensor_index, value)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> Any:
        """The value of a tensor, as a copy."""
        tensors = self._tensors
        with self._session.lock:
            if tensors.per_thread.shared and not subgraph_index:
                own = tensors.per_thread.value(tensor_index)
                if own is not None:
                    return hand_out(own.copy())
            slot = None if subgraph_index else tensors.slots.get(tensor_index)
            if slot is not None and (slot.is_input or tensors.results is _COMPUTED):
                return slot.array.copy()
            return self._get_slowly(tensor_index, subgraph_index)

    def _get_slowly(self, index: int, subgraph: int) -> Any:
        tensors = self._tensors
        tensors.ready()
        is_output = index in tensors.outputs and index not in tensors.inputs
        if is_output and tensors.results is Results.FROM_UNSET_INPUTS:
            self._warn_unset()
        return tensors.get_value(index, subgraph)

    def _warn_unset(self) -> None:
        """Say once that an output was computed from inputs that were never set."""
        tensors = self._tensors
        unset, tensors.unset, tensors.results = tensors.unset, (), Results.COMPUTED
        if not tensors.warned_of:
            tensors.warned_of = unset
            self._judge.warn(self._story(), stacklevel=5)

    def tensor(self, tensor_index: int) -> Callable[[], Any]:
        """A function that gives a view of an input or output (of other tensors, a copy)."""
        tensors = self._tensors
        tensors.note_given(tensor_index)  # what is written to a view cannot be seen

        def view() -> Any:
            with self._session.lock:
                tensors.ready()
                slot = tensors.slots.get(tensor_index)
                return self.get_tensor(tensor_index) if slot is None else tensors.view(slot)

        return view

    def resize_tensor_input(self, input_index: int, tensor_size: Any, strict: bool = False) -> None:
        """Give an input another shape; allocate again afterwards."""
        with self._session.lock:
            self._tensors.check_no_views()
            self._tensors.ready()
            shape = [int(size) for size in np.array(tensor_size, dtype=np.int32).ravel()]
            self._tensors.resize(int(input_index), shape, bool(strict))

    def reset_all_variables(self) -> None:
        """Set all variables back."""
        self._ask({"do": "reset"})

    def get_input_details(self) -> list[dict[str, Any]]:
        """Name, index, shape, type and quantization of each input."""
        return list(self._tensors.detail("inputs"))

    def get_output_details(self) -> list[dict[str, Any]]:
        """Name, index, shape, type and quantization of each output."""
        return list(self._tensors.detail("outputs"))

    def get_tensor_details(self, subgraph_index: int = 0) -> list[dict[str, Any]]:
        """The same for every tensor of a subgraph."""
        return list(self._tensors.detail("tensors", subgraph_index))

    def num_subgraphs(self) -> int:
        """How many subgraphs the model has."""
        return int(self._tensors.detail("subgraphs"))

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
        return SignatureRunner(self, signature_key)

    def _open_signature(self, key: str) -> dict[str, Any]:
        return dict(self._ask_about("signature", {"do": "signature", "key": key}))

    def _run_subgraph(self, subgraph: int, inputs: Tensors, outputs: list[int]) -> list[Any]:
        """Run a signature, and give the values of its outputs."""
        packed = [(index, *codec.pack_array(value)) for index, value in inputs.items()]
        parts = [{**header, "index": index} for index, header, _ in packed]
        message = {"do": "call", "subgraph": subgraph, "inputs": parts, "outputs": outputs}
        session, tensors = self._session, self._tensors
        with tensors.exclusive():
            first_run = tensors.first_run
            if subgraph == 0:
                tensors.note_moved()
                # If it fails, the next run is a first one.
                tensors.first_run, tensors.results, tensors.unset = True, Results.NONE, ()
            values = session.ask_values(message, len(outputs), [data for _, _, data in packed])
            if subgraph == 0:
                tensors.given.update(inputs)
                session.resized.update({index: (list(one.shape), False) for index, one in inputs.items()})
                tensors.allocated, tensors.first_run, tensors.results = True, first_run, Results.COMPUTED
        return [hand_out(value) for value in values]

    def _ask(self, header: dict[str, Any], **how: Any) -> Any:
        with self._tensors.exclusive():
            return self._session.ask(header, **how)

    def _ask_about(self, question: str, header: dict[str, Any]) -> Any:
        with self._tensors.exclusive():
            return self._session.ask_about(question, header)

    @property
    def experimental_compress_quantization_zero_points(self) -> bool:
        """As it was given."""
        return self._compressed

    def _safe_to_run(self) -> bool:
        return not self._tensors.has_views()

    def _ensure_safe(self) -> None:
        self._tensors.check_no_views()

    def _get_full_signature_list(self) -> dict[str, Any]:
        return dict(self._tensors.detail("signatures"))

    def _get_ops_details(self) -> list[dict[str, Any]]:
        return list(self._tensors.detail("ops"))

    def _get_op_details(self, op_index: int) -> dict[str, Any]:
        return dict(self._tensors.detail("op", op_index))

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int = 0) -> dict[str, Any]:
        return dict(self._tensors.detail("tensor", tensor_index, subgraph_index))

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
    def overlaid_bytes(self) -> int:
        """Bytes of inputs and outputs that lie in memory shared with the worker, and nowhere else."""
        return self._tensors.overlaid_bytes

    @property
    def has_run(self) -> bool:
        """True if there are outputs to read."""
        return self._tensors.results is not Results.NONE

    def nodes(self) -> list[Any]:
        """Type, inputs and outputs of the nodes of the main graph; those of delegates are at the end."""
        return list(self._ask_about("nodes", {"do": "nodes"}))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What went wrong without a word until now, as `run(...).findings`; looked for when asked for."""
        tensors = self._tensors
        with self._session.lock:
            rows = tensors.detail("outputs") if self.has_run else []
            seen = with_outputs(self._story(), rows, [tensors.value(row["index"]) for row in rows])
            if rows and self.brings_xnnpack:
                seen = replace(seen, delegation=ask_delegation(self.nodes, ["XNNPACK"]))
            inputs = [(index, slot.array) for index, slot in tensors.slots.items() if slot.is_input]
            given = tuple(see_tensor(index, array) for index, array in inputs)
            return replace(seen, inside=InsideSeen(runs=1, chosen=True, tensors=given)).findings

    @property
    def accelerator(self) -> str:
        """What runs the model: what was asked for, or what the ladder came to; empty without either."""
        return "" if self._ladder is None else self._ladder.current

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """The accelerators that `accelerator="auto"` left out or left, each with the reason."""
        return () if self._ladder is None else tuple(self._ladder.skipped)

    def _steps_down(self, error: BaseException, allocate: bool = False) -> bool:
        """Go on with the next accelerator of the ladder; False if there is none, or no reason to."""
        why = why_left(error) if self._ladder is not None else ""
        while why and self._ladder is not None and self._session.state is not SessionState.CLOSED:
            name = self._ladder.step(why)
            if name is None:
                return False
            try:
                self._session.change_options(partial(opened_on, name=name))
                self._tensors.allocated = self._tensors.allocated or allocate
                self._tensors.restart()
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
        return list(self._ask_about("shapes", {"do": "shapes"}))

    def report(self) -> tuple[bool | None, str]:
        """Of a compiled model: whether accelerators took all of it, and what they have printed."""

        def read(report: answers.Report, said: memoryview) -> tuple[bool | None, str]:
            return report.fully_accelerated, bytes(said).decode("utf-8", "replace")

        found: tuple[bool | None, str] = self._ask({"do": "report"}, most_bytes=_MOST_REPORT_BYTES, read=read)
        return found

    def story(self) -> Flight:
        """The record of the run so far, while all is well."""
        with self._session.lock:
            flight = self._story()
        if self._ladder is None:
            return flight
        chosen = {"accelerator": self._ladder.current, "skipped": [list(pair) for pair in self.skipped]}
        return replace(flight, runtime={**flight.runtime, **chosen})

    def _story(self) -> Flight:
        tensors, session = self._tensors, self._session
        unset = tuple((index, tensors.name_of(index)) for index in tensors.warned_of or tensors.unset)
        return replace(session.story(), unset_inputs=unset, source=session.options.source)

    def kill(self) -> None:
        """End the worker at once, without freeing anything; a call of another thread ends with an error."""
        self._session.kill()

    def close(self) -> None:
        """Free the interpreter and end its worker; `ModelDied` if freeing kills it."""
        with self._session.lock:
            self._tensors.forget()
            self._session.close()

    def __enter__(self) -> Self:
        """The interpreter itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the worker."""
        self.close()
