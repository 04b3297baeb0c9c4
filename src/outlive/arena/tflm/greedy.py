"""The planner TFLM uses: largest buffer first, each at the lowest gap that is free during its life.

Source: tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc. There every buffer is held against
every other; here against those alive at the same time, found in a tree over the steps, with the same result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from outlive.arena.interval_index import IntervalIndex

# (offset, turn of placing, end): the order in which a candidate's neighbours are walked.
_Placed = tuple[int, int, int]

# A file made to overlap everything with everything would take the square of its tensors.
_MOST_COMPARISONS = 10_000_000


class TooManyBuffersError(Exception):
    """So many buffers are alive at once that placing them would take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferNeed:
    """A buffer to place: its bytes, the first and last step it is alive, its offset if planned offline."""

    size_bytes: int
    first: int
    last: int
    offline_offset: int | None = None


def place(needs: Sequence[BufferNeed]) -> list[int]:
    """The offset of each buffer, in the order given."""
    offsets = [-1] * len(needs)
    # Steps count from 1: one that is never alive begins at -1.
    neighbours = IntervalIndex[_Placed](max((need.last for need in needs), default=0) + 2)
    # Offline ones first as they come; the others are filled in from the back and then sorted by a bubble
    # sort, which is stable: of two of one size the later one goes first.
    offline = [which for which, need in enumerate(needs) if need.offline_offset is not None]
    online = [which for which in reversed(range(len(needs))) if needs[which].offline_offset is None]
    for turn, which in enumerate(offline + sorted(online, key=lambda which: -needs[which].size_bytes)):
        need = needs[which]
        offset = need.offline_offset
        if offset is None:
            overlapping = neighbours.meeting(need.first + 1, need.last + 1)
            if neighbours.work > _MOST_COMPARISONS:
                raise TooManyBuffersError
            offset = _lowest_gap(need.size_bytes, sorted(overlapping))
        offsets[which] = offset
        if need.first <= need.last:  # DoesEntryOverlapInTime: any other never meets one
            neighbours.add(need.first + 1, need.last + 1, (offset, turn, offset + need.size_bytes))
    return offsets


def place_in_line(needs: Sequence[BufferNeed]) -> list[int]:
    """The offsets of LinearMemoryPlanner, which preserve_all_tensors asks for: one after the other."""
    offsets = []
    end = 0
    for need in needs:
        offsets.append(end)
        end += need.size_bytes
    return offsets


def height(needs: Sequence[BufferNeed], offsets: Sequence[int]) -> int:
    """The bytes the placed buffers take from offset 0."""
    return max((offset + need.size_bytes for need, offset in zip(needs, offsets, strict=True)), default=0)


def _lowest_gap(size_bytes: int, overlapping: Sequence[_Placed]) -> int:
    candidate = 0
    for offset, _, end in overlapping:
        if offset - candidate >= size_bytes:
            break
        candidate = max(candidate, end)
    return candidate
