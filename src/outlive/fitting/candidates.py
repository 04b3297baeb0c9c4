"""Candidates, cheapest for the user first: each round changes more than the one before.

    1  the same file with other settings; the file without its waste       same results, but for rounding
    2  a smaller batch, where the file has one                             results in smaller portions
    3  a smaller type of numbers: fp16, int8 ... int4                      another model
    4  smaller images                                                    other results
    5  smaller images in smaller numbers                                 both

The search ends with the first round in which something fits and loses little. Of all that fit, the least
loss wins, and what stands earlier here where that is equal.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from outlive.fitting.fit_result import Candidate, Inputs, NamedShape, Shape
from outlive.model import Model

# From the one that usually loses least to the one that usually loses most.
RECIPES = ("fp16", "weight-only-int8", "static-int16x8", "dynamic-int8", "static-int8", "weight-only-int4")
MIXED_FROM = "static-int8"
# Parts of a picture's sides, in eighths.
_SIDES = (6, 4, 3, 2, 1)
_LEAST_SIDE = 8
_LEAST_CHANGE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """What can be offered for a model: the settings there are, and whether it has waste to be removed.

    `is_usable` is asked about a batch before others are built upon it.
    """

    settings: tuple[Candidate, ...]
    trimmed: bool
    is_usable: Callable[[Candidate], bool] = lambda _: True


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRound:
    """Candidates that change as much as each other."""

    title: str
    candidates: tuple[Candidate, ...]


def settings_for(accelerator: str | None, threads: int | None) -> tuple[Candidate, ...]:
    """The settings that are tried: all that give the same results, or the one that was asked for."""
    if accelerator is not None:
        return (Candidate(accelerator=accelerator, threads=threads),)
    usual = [
        Candidate(threads=threads),
        Candidate(weight_cache=True, threads=threads),
        Candidate(accelerator="builtin", threads=threads),
    ]
    if threads is not None and threads > 1:
        usual.append(Candidate(accelerator="builtin", threads=1))
    return tuple(usual)


def rounds_for(model: Model, space: SearchSpace) -> Iterator[SearchRound]:
    """The rounds, in order; those that have nothing to offer are left out."""
    plain = Candidate(trimmed=space.trimmed)
    same = [Candidate(), plain] if space.trimmed else [plain]
    batches = [replace(plain, batch=size) for size in smaller_batches(model)]
    sizes = [replace(plain, inputs=inputs) for inputs in smaller_pictures(model)]
    yield from _rounds_of((("settings", same), ("a smaller batch", batches)), space)
    # Smaller numbers are tried with the smallest batch: that costs nothing but calls.
    base = next((batch for batch in reversed(batches) if space.is_usable(batch)), plain)
    recipes = [replace(base, recipe=recipe) for recipe in RECIPES]
    sized = [replace(size, batch=base.batch) for size in sizes]
    both = [replace(size, recipe=recipe) for size in sized for recipe in RECIPES]
    named = (
        ("smaller numbers", recipes),
        ("smaller images", sized),
        ("smaller images and numbers", both),
    )
    yield from _rounds_of(named, space)


def _rounds_of(named: Iterable[tuple[str, list[Candidate]]], space: SearchSpace) -> Iterator[SearchRound]:
    for title, variants in named:
        if variants:
            yield SearchRound(title=title, candidates=tuple(_settled(variants, space)))


def mixed(candidate: Candidate, layers: tuple[str, ...]) -> Iterator[Candidate]:
    """The same recipe with its worst layers left float: one, three, a tenth and a quarter of them."""
    counts = sorted({1, 3, len(layers) // 10, len(layers) // 4} - {0})
    for count in counts:
        if count < len(layers):
            yield replace(candidate, kept=layers[:count])


def _settled(variants: list[Candidate], space: SearchSpace) -> Iterator[Candidate]:
    for variant in variants:
        for setting in space.settings:
            yield replace(
                variant,
                accelerator=setting.accelerator,
                weight_cache=setting.weight_cache,
                threads=setting.threads,
            )


def smaller_batches(model: Model) -> tuple[int, ...]:
    """Halves of the batch down to 1; none where inputs do not share one."""
    firsts = {tensor.shape[0] if tensor.shape else 0 for tensor in model.inputs}
    batch = firsts.pop() if len(firsts) == 1 else 1
    found = []
    while batch > 1:
        batch //= 2
        found.append(batch)
    return tuple(found)


def smaller_pictures(model: Model) -> tuple[Inputs, ...]:
    """Sizes for the largest picture, three quarters and less of each side; none where there is no picture."""
    pictures = [tensor for tensor in model.inputs if is_picture(tensor.shape)]
    if not pictures:
        return ()
    picture = max(pictures, key=lambda tensor: tensor.size_bytes or 0)
    batch, high, wide, depth = picture.shape
    found = []
    for part in _SIDES:
        shape = (batch, _part(high, part), _part(wide, part), depth)
        if min(shape[1:3]) >= _LEAST_SIDE:
            found.append((NamedShape(picture.name, shape),))
    return tuple(found)


def is_picture(shape: Shape) -> bool:
    """True for a batch of pictures, colours last, that are large enough to be made smaller."""
    return len(shape) == 4 and min(shape[1:3]) >= _LEAST_CHANGE and 0 < shape[3] <= min(shape[1:3])


def _part(side: int, eighths: int) -> int:
    """So many eighths of a side, rounded; an odd side stays odd (513 becomes 257)."""
    part = side * eighths // 8
    return part + 1 if side % 2 and not part % 2 else part
