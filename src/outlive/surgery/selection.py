"""Which operators and tensors a part of a model is made of.

CutTarget ──> the operators asked for, or those the outputs need
          ──> what must come along: unpacked weights, handles, what fills a variable
          ──> Selection: operators, inputs, outputs, what to say about state

All by index: names were looked up before, and every index in the model is known to lead somewhere.

Which operators share state beside the tensors: variables and hash tables, by their names.

A resource cannot be fed from outside: its handle is made by VAR_HANDLE or HASHTABLE, it is filled by
ASSIGN_VARIABLE or HASHTABLE_IMPORT, or once by what CALL_ONCE calls. An operator that uses one without them
is refused by the runtime, or reads nothing.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from outlive.model import Model, Operator, Subgraph, Tensor
from outlive.units import list_some, plural

# Values that can be neither set nor read from outside.
UNFEEDABLE = frozenset({"resource", "variant"})

# One resource has one name in the whole model: LiteRT, tflite/kernels/var_handle.cc and hashtable.cc
Resource = tuple[str, ...]

_MAKERS = frozenset({"VAR_HANDLE", "HASHTABLE"})
_WRITERS = frozenset({"ASSIGN_VARIABLE", "HASHTABLE_IMPORT"})
# It leaves nothing of what was there before; an import adds to it.
_OVERWRITER = "ASSIGN_VARIABLE"
_RUN_ONCE = "CALL_ONCE"
_NONE: frozenset[Resource] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """The resources an operator uses, and those among them that it may change."""

    used: frozenset[Resource]
    written: frozenset[Resource]


class Resources:
    """What each operator of the main subgraph has to do with variables and hash tables."""

    def __init__(self, model: Model) -> None:
        """Look through all subgraphs once."""
        self._operators = model.subgraphs[0].operators
        self._calls = Calls(model)
        self._inside = [_handled(subgraph) for subgraph in model.subgraphs]
        self._handles = _handles(model.subgraphs[0])
        self.touches = {
            operator.index: touch
            for operator in self._operators
            if operator.type not in _MAKERS and (touch := self._touch(operator)).used
        }
        self.writers: dict[Resource, list[int]] = {}
        for index, touch in self.touches.items():
            for resource in touch.written:
                self.writers.setdefault(resource, []).append(index)

    def _touch(self, operator: Operator) -> Touch:
        called = self._calls.reached_by(operator)
        held = frozenset(self._handles[tensor] for tensor in operator.inputs if tensor in self._handles)
        used = held.union(*(self._inside[index].used for index in called))
        # What a called subgraph does with a handle that it is given is not followed: it may write.
        may_write = held if called or operator.type in _WRITERS else _NONE
        return Touch(used=used, written=may_write.union(*(self._inside[index].written for index in called)))

    def fillers(self, operator: Operator, known: set[tuple[Resource, int]]) -> set[int]:
        """The operators before this one that give its resources their value; `known` ones are left out."""
        touch = self.touches.get(operator.index)
        if touch is None or operator.type in _WRITERS or operator.type == _RUN_ONCE:
            return set()
        found = set()
        for resource in touch.used:
            writers = self.writers.get(resource, [])
            for place in range(bisect_left(writers, operator.index) - 1, -1, -1):
                index = writers[place]
                if (resource, index) in known:
                    break
                known.add((resource, index))
                found.add(index)
                if self._operators[index].type == _OVERWRITER:
                    break
        return found

    def has_effect(self, operator: Operator) -> bool:
        """True if it does something that no tensor shows: it is needed though nothing reads its outputs."""
        touch = self.touches.get(operator.index)
        return not operator.outputs or (touch is not None and bool(touch.written))


class Calls:
    """Which subgraphs each operator reaches."""

    def __init__(self, model: Model) -> None:
        """Remember the model's calls."""
        count = len(model.subgraphs)
        self._called = [
            tuple({index for op in graph.operators for index in _called_by(op, count)})
            for graph in model.subgraphs
        ]
        self._known: dict[tuple[int, ...], frozenset[int]] = {(): frozenset()}

    def reached_by(self, operator: Operator) -> frozenset[int]:
        """The subgraphs an operator calls, and those that they call."""
        return self.reached_from(_called_by(operator, len(self._called)))

    def reached_from(self, indices: tuple[int, ...]) -> frozenset[int]:
        """These subgraphs, and those that they call."""
        if indices not in self._known:
            found: set[int] = set()
            waiting = list(indices)
            while waiting:
                index = waiting.pop()
                if index not in found:
                    found.add(index)
                    waiting += self._called[index]
            self._known[indices] = frozenset(found)
        return self._known[indices]


def _called_by(operator: Operator, count: int) -> tuple[int, ...]:
    named = operator.options.get("called_computations") if operator.options is not None else None
    more = named if isinstance(named, tuple) else ()
    return tuple(index for index in (*operator.subgraphs(), *more) if 0 <= index < count)


def resource_name(resource: Resource) -> str:
    """The resource in words."""
    kind, *names = resource
    return f"{kind} {'/'.join(name for name in names if name)!r}"


def _handles(subgraph: Subgraph) -> dict[int, Resource]:
    makers = (op for op in subgraph.operators if op.type in _MAKERS and op.outputs)
    return {operator.outputs[0]: _resource(operator) for operator in makers}


def _resource(operator: Operator) -> Resource:
    options = operator.options
    if operator.type == "HASHTABLE":
        return ("hash table", str(options.get("table_id", 0) if options else 0))
    names = ("container", "shared_name")
    return ("variable", *(str((options.get(name) if options else "") or "") for name in names))


def _handled(subgraph: Subgraph) -> Touch:
    """Resources a subgraph makes handles of, and those that it writes through them."""
    handles = _handles(subgraph)
    written = frozenset(
        handles[operator.inputs[0]]
        for operator in subgraph.operators
        if operator.type in _WRITERS and operator.inputs and operator.inputs[0] in handles
    )
    return Touch(used=frozenset(handles.values()), written=written)


# They turn a packed constant into the plain one: to the user, their output is a constant as well.
_UNPACKING = frozenset({"DEQUANTIZE", "DENSIFY"})
# Sparse weights in float16 are made dense first, and float32 then.
_MOST_UNPACKING = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CutTarget:
    """What is asked for, by index: None for operators and outputs that are left to the model.

    `ends` are tensors that need no operator before them: they become inputs or constants.
    """

    ops: tuple[int, ...] | None
    outputs: tuple[int, ...] | None
    new_inputs: frozenset[int]
    new_constants: frozenset[int]

    @property
    def ends(self) -> frozenset[int]:
        """Tensors whose value comes from outside now, computed before or not."""
        return self.new_inputs | self.new_constants

    @property
    def keeps_interface(self) -> bool:
        """True if inputs and outputs of the whole are those of the part."""
        return self.ops is None and self.outputs is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Operators, inputs and outputs of the part, by their indices in the whole."""

    ops: tuple[int, ...]
    came_along: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    state: tuple[str, ...]


def select_operators(model: Model, wanted: CutTarget) -> Selection:
    """The part that was asked for. ValueError if it is empty or cannot be."""
    return _Selector(model, wanted).made()


class _Selector:
    """Walks from the operators and outputs asked for back to what they need."""

    def __init__(self, model: Model, wanted: CutTarget) -> None:
        self._wanted, self._graph = wanted, model.subgraphs[0]
        self._whole_inputs = frozenset(self._graph.input_indices)
        self._resources = Resources(model)
        self._allowed = range(len(self._graph.operators)) if wanted.ops is None else frozenset(wanted.ops)
        self._writers: dict[int, list[int]] = {}
        for operator in self._graph.operators:
            for tensor in operator.outputs:
                if tensor >= 0:  # an output may be left out
                    self._writers.setdefault(tensor, []).append(operator.index)
        self._kept: set[int] = set()
        self._filled: set[tuple[tuple[str, ...], int]] = set()

    def made(self) -> Selection:
        self._keep(self._roots())
        if not self._kept:
            raise ValueError("nothing is left: no operator computes what was asked for")
        self._refuse_overwriting()
        ops = tuple(sorted(self._kept))
        outputs = self._outputs()
        came_along = tuple(index for index in ops if index not in self._allowed)
        return Selection(
            ops=ops,
            came_along=came_along,
            inputs=self._inputs(outputs),
            outputs=outputs,
            state=tell_state(self._graph, self._resources, ops, came_along),
        )

    def _roots(self) -> Iterable[int]:
        wanted, operators = self._wanted, self._graph.operators
        if wanted.outputs is None and wanted.ops is not None:
            return [index for index in wanted.ops if not self._is_cut_off(operators[index])]
        outputs = self._graph.output_indices if wanted.outputs is None else wanted.outputs
        roots = [self._computing(tensor) for tensor in outputs]
        found = [index for index in roots if index is not None]
        if wanted.outputs is None:
            found += [op.index for op in operators if self._resources.has_effect(op)]
        return found

    def _is_cut_off(self, operator: Operator) -> bool:
        return bool(operator.outputs) and not self._wanted.ends.isdisjoint(operator.outputs)

    def _computing(self, tensor: int) -> int | None:
        """The operator that an output asked for comes from; None for one that passes through."""
        writers = [index for index in self._writers.get(tensor, []) if index in self._allowed]
        if tensor in self._wanted.ends:
            return None
        if writers:
            return writers[-1]
        if self._wanted.outputs is None:
            return None  # the whole model has it so
        if self._wanted.ops is None and (tensor in self._whole_inputs or self._is_given(tensor)):
            return None
        whose = self._writers.get(tensor)
        by = f"operator {whose[-1]} computes it" if whose else "no operator computes it"
        raise ValueError(f"{_call(self._graph.tensors[tensor])} cannot be an output of this part: {by}")

    def _is_given(self, tensor: int) -> bool:
        return self._graph.tensors[tensor].is_constant or self._graph.tensors[tensor].is_variable

    def _keep(self, roots: Iterable[int]) -> None:
        waiting = list(roots)
        while waiting:
            index = waiting.pop()
            if index in self._kept:
                continue
            self._kept.add(index)
            operator = self._graph.operators[index]
            before = (self._before(tensor, index) for tensor in operator.inputs)
            waiting += [writer for writer in before if writer is not None]
            waiting += self._resources.fillers(operator, self._filled)

    def _before(self, tensor: int, index: int) -> int | None:
        """The operator that must be kept because this one reads the tensor."""
        writer = self._writer(tensor, index)
        if writer is None or tensor in self._wanted.ends or tensor in self._whole_inputs:
            return None
        return writer if writer in self._allowed or self._must_come(tensor, writer) else None

    def _writer(self, tensor: int, reader: int) -> int | None:
        writers = self._writers.get(tensor) if tensor >= 0 else None
        if not writers:
            return None
        place = bisect_left(writers, reader)
        return writers[place - 1] if place else writers[0]

    def _must_come(self, tensor: int, writer: int) -> bool:
        if self._graph.tensors[tensor].dtype in UNFEEDABLE:
            return True
        return self._unpacks_constant(self._graph.operators[writer], _MOST_UNPACKING)

    def _unpacks_constant(self, operator: Operator, most: int) -> bool:
        """True for one that unpacks a constant, or what another unpacked from one."""
        if operator.type not in _UNPACKING or not operator.inputs or operator.inputs[0] < 0:
            return False
        packed = operator.inputs[0]
        if packed in self._wanted.ends:
            return False
        writer = self._writer(packed, operator.index)
        if writer is None or not most:
            return self._graph.tensors[packed].is_constant
        return self._unpacks_constant(self._graph.operators[writer], most - 1)

    def _refuse_overwriting(self) -> None:
        for index in sorted(self._kept):
            for tensor in self._graph.operators[index].outputs:
                if tensor in self._wanted.ends:
                    name = _call(self._graph.tensors[tensor])
                    raise ValueError(
                        f"{name} cannot be given from outside: operator {index} computes it together with "
                        "something else that is needed"
                    )

    def _outputs(self) -> tuple[int, ...]:
        if self._wanted.outputs is not None:
            return self._wanted.outputs
        if self._wanted.ops is None:
            return tuple(self._graph.output_indices)
        computed = self._computed()
        whole = dict.fromkeys(index for index in self._graph.output_indices if index in computed)
        return tuple(dict.fromkeys((*whole, *self._border())))

    def _computed(self) -> dict[int, None]:
        """Tensors that the part computes, in the order it does."""
        operators = self._graph.operators
        return dict.fromkeys(tensor for index in sorted(self._kept) for tensor in operators[index].outputs)

    def _border(self) -> list[int]:
        """What the part computes for the rest of the model; all of an operator that nothing reads."""
        read_inside, read_outside = set[int](), set[int]()
        for operator in self._graph.operators:
            (read_inside if operator.index in self._kept else read_outside).update(operator.inputs)
        found = []
        for index in sorted(self._kept & set(self._allowed)):
            outputs = self._graph.operators[index].outputs
            unread = read_inside.isdisjoint(outputs) and read_outside.isdisjoint(outputs)
            found += [tensor for tensor in outputs if unread or tensor in read_outside]
        tensors = self._graph.tensors
        return [index for index in found if index >= 0 and tensors[index].dtype not in UNFEEDABLE]

    def _inputs(self, outputs: tuple[int, ...]) -> tuple[int, ...]:
        computed, whole = self._computed(), self._graph.input_indices
        operators, ends = self._graph.operators, self._wanted.ends
        read = dict.fromkeys(tensor for index in sorted(self._kept) for tensor in operators[index].inputs)
        needed = {*read, *outputs}
        if self._wanted.keeps_interface:
            needed.update(whole)
        first = [tensor for tensor in whole if tensor in needed]
        new = [
            tensor
            for tensor in dict.fromkeys((*read, *outputs))
            if tensor not in computed and self._comes_from_outside(tensor)
        ]
        unread = [tensor for tensor in sorted(ends) if tensor not in needed]
        if unread:
            name = _call(self._graph.tensors[unread[0]])
            raise ValueError(f"{name} is not read by anything in this part")
        return tuple(
            tensor for tensor in dict.fromkeys((*first, *new)) if tensor not in self._wanted.new_constants
        )

    def _comes_from_outside(self, tensor: int) -> bool:
        # A tensor that no operator ever writes stays what it is: a constant, a variable, or left out.
        return tensor in self._wanted.new_inputs or (tensor in self._writers and not self._is_given(tensor))


def _call(tensor: Tensor) -> str:
    return f"tensor #{tensor.index} {tensor.name[:80]!r}"


def tell_state(
    graph: Subgraph, resources: Resources, ops: Sequence[int], came_along: Sequence[int]
) -> tuple[str, ...]:
    """Sentences about variables and resources; none for a part without state."""
    kept = frozenset(ops)
    return (*_brought(graph, came_along), *_variables(graph, kept), *_resources(resources, kept))


def _brought(graph: Subgraph, came_along: Sequence[int]) -> Iterator[str]:
    if came_along:
        names = [f"{index} {graph.operators[index].name[:40]}" for index in came_along]
        many = "operator" if len(names) == 1 else "operators"
        yield f"{many} {list_some(names)} came along: what is made there cannot be fed from outside"


def _variables(graph: Subgraph, kept: frozenset[int]) -> Iterator[str]:
    used: dict[int, list[int]] = {}
    for operator in graph.operators:
        for tensor in {*operator.inputs, *operator.outputs}:
            if tensor >= 0 and graph.tensors[tensor].is_variable:
                used.setdefault(tensor, []).append(operator.index)
    mine = [tensor for tensor, users in used.items() if not kept.isdisjoint(users)]
    if mine:
        yield f"{plural(len(mine), 'variable tensor')}: zero at first, and kept from run to run"
    shared = [tensor for tensor in mine if not kept.issuperset(used[tensor])]
    if shared:
        listed = list_some([f"#{tensor}" for tensor in shared])
        yield f"variable tensors {listed} are also used by operators left out, which do not change them here"


def _resources(resources: Resources, kept: frozenset[int]) -> Iterator[str]:
    used = dict.fromkeys(
        resource
        for index in sorted(kept)
        if index in resources.touches
        for resource in sorted(resources.touches[index].used)
    )
    if not used:
        return
    yield f"{list_some([resource_name(item) for item in used])}: kept by the interpreter from run to run"
    left = [
        f"{resource_name(resource)} ({list_some(left_out)})"
        for resource in used
        if (left_out := [index for index in resources.writers.get(resource, []) if index not in kept])
    ]
    if left:
        yield f"operators left out also write, and do not change it here: {list_some(left)}"
