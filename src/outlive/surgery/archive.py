"""The files attached to a model as a zip archive behind it, moved to where a part of it ends."""

from struct import Struct, error

from outlive.model import Model

# The layout of zip archives: PKWARE, APPNOTE.TXT, 4.3.12 and 4.3.16
_END = Struct("<4s4H2IH")
_ENTRY = Struct("<4s6H3I5H2I")
_PLACE = Struct("<I")
_END_MARK, _ENTRY_MARK = b"PK\x05\x06", b"PK\x01\x02"
_LARGEST_COMMENT = 65_535
_PLACE_IN_ENTRY, _PLACE_IN_END = 42, 16
# An archive that needs more than 32 bits says so by this number.
_ELSEWHERE = 0xFFFFFFFF


def moved_archive(model: Model, at: int) -> bytes | None:
    """The archive as it must be to start at byte `at` of a file; None if there is none that can be moved."""
    if not model.attached_files:
        return None
    try:
        return _moved(model.content, at)
    except (error, ValueError):
        return None


def _moved(content: memoryview, at: int) -> bytes:
    tail_at = max(0, len(content) - _END.size - _LARGEST_COMMENT)
    end = tail_at + bytes(content[tail_at:]).rfind(_END_MARK)
    _, _, _, _, count, size, claimed, _ = _END.unpack_from(content, end)
    directory = end - size
    # Offsets count from where the archive starts, which is not always where the file does.
    shift = directory - claimed
    places, here = [], directory
    for _ in range(count):
        mark, *_, name, extra, comment, _, _, _, place = _ENTRY.unpack_from(content, here)
        if mark != _ENTRY_MARK or place == _ELSEWHERE or not 0 <= place + shift < directory:
            raise ValueError("a directory that is not understood")
        places.append((here, place + shift))
        here += _ENTRY.size + name + extra + comment
    if here != end or not places:
        raise ValueError("a directory that does not end where it should")
    first = min(place for _, place in places)
    archive = bytearray(content[first:])
    for entry, place in places:
        _PLACE.pack_into(archive, entry - first + _PLACE_IN_ENTRY, place - first + at)
    _PLACE.pack_into(archive, end - first + _PLACE_IN_END, directory - first + at)
    return bytes(archive)
