"""Operators and tensors as a user names them: `10:20`, `3,7,9`, `conv/bias`, `#12`."""

import difflib
import operator
from collections.abc import Iterable

from outlive.model import Model, Tensor
from outlive.units import plural

# What may be given for operators: one, a range or slice, several, or text such as "10:20" and "3,7,9".
Ops = int | range | slice | Iterable[int] | str
TensorName = str | int

_SHOWN = 80


def find_ops(ops: Ops, count: int) -> tuple[int, ...]:
    """The operators that are meant, in the order they run. ValueError for those that do not exist."""
    if isinstance(ops, str):
        found = _parse(ops, count)
    elif isinstance(ops, slice):
        found = [*range(count)[ops]]
    elif isinstance(ops, range):
        # A range of a billion operators is a slip of the finger, and need not be walked.
        found = [ops[0], ops[-1]] if len(ops) > count else [*ops]
    elif isinstance(ops, Iterable):
        found = [_whole(op) for op in ops]
    else:
        found = [_whole(ops)]
    for index in found:
        _check(index, count)
    if not found:
        raise ValueError(f"no operator was chosen; {_there_are(count)}")
    return tuple(sorted(set(found)))


def _whole(op: object) -> int:
    try:
        return operator.index(op)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"an operator is a number, not {str(op)[:_SHOWN]!r}") from None


def _check(index: int, count: int) -> None:
    if not 0 <= index < count:
        raise ValueError(f"unknown operator {index}; {_there_are(count)}")


def _there_are(count: int) -> str:
    if not count:
        return "the model has none"
    return f"the model has {plural(count, 'operator')}" + (f", 0 to {count - 1}" if count > 1 else ", 0")


def _parse(text: str, count: int) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, colon, last = (word.strip() for word in part.partition(":"))
        words = [word for word in (first, last) if word]
        if not all(word.isdecimal() and len(word) < 10 for word in words) or not (words or colon):
            raise ValueError(f"{text[:_SHOWN]!r} names no operators; write 5, 3,7,9 or 10:20 (20 left out)")
        if not colon:
            found.append(int(first))
            continue
        start, stop = int(first or 0), int(last or count)
        if start >= stop:
            raise ValueError(f"{part[:_SHOWN]!r} is an empty range; {_there_are(count)}")
        _check(start, count)
        _check(stop - 1, count)
        found += range(start, stop)
    return found


def find_tensor(model: Model, word: TensorName) -> Tensor:
    """The tensor of the main subgraph with this name or index (`12` or `#12`); ValueError if there is none.

    The names of a signature's arguments stand for their tensors where no tensor has that name.
    """
    tensors = model.subgraphs[0].tensors
    if not isinstance(word, str):
        return _at(tensors, _whole(word))
    if not word:
        raise ValueError("a tensor is named by its name or as #12, not by nothing")
    named = [tensor for tensor in tensors if tensor.name == word] or _in_signatures(model, word)
    if len(named) > 1:
        places = ", ".join(f"#{tensor.index}" for tensor in named[:8])
        raise ValueError(f"several tensors are named {word[:_SHOWN]!r}: say which with {places}")
    if named:
        return named[0]
    if word.startswith("#") and word[1:].isdecimal() and len(word) < 12:
        return _at(tensors, int(word[1:]))
    raise ValueError(f"unknown tensor {word[:_SHOWN]!r}{_near(model, word)}")


def _at(tensors: tuple[Tensor, ...], index: int) -> Tensor:
    if not 0 <= index < len(tensors):
        raise ValueError(f"unknown tensor {index}; the model has {plural(len(tensors), 'tensor')}, from 0")
    return tensors[index]


def _in_signatures(model: Model, word: str) -> list[Tensor]:
    tensors = model.subgraphs[0].tensors
    indices = {
        index
        for signature in model.signatures
        if signature.subgraph_index == 0
        for name, index in (*signature.inputs, *signature.outputs)
        if name == word and index < len(tensors)
    }
    return [tensors[index] for index in sorted(indices)]


def _near(model: Model, word: str) -> str:
    # Comparing takes the product of the lengths, and both come from strangers.
    names = [tensor.name for tensor in model.subgraphs[0].tensors[:5000] if 0 < len(tensor.name) <= 200]
    inside = [name for name in names if word and word.lower() in name.lower()][:3]
    matches = inside or difflib.get_close_matches(word[:200], names, n=3)
    if not matches:
        return "; `outlive read --tensors` lists them"
    return "; did you mean " + " or ".join(repr(name) for name in matches) + "?"
