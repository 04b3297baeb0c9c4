"""Where the bytes of a constant lie in the file, and the bytes themselves when they are asked for."""

from dataclasses import dataclass, field

from outlive.model.file_bytes import FileBytes
from outlive.records import NOT_WRITTEN, in_document


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Buffer:
    """Bytes a file keeps for constants and metadata, read when they are asked for.

    `length` is None where the file has no bytes, and 0 where it has a vector of none: the runtime takes the
    second for a constant.
    """

    index: int
    file: FileBytes = field(repr=False, metadata=NOT_WRITTEN)
    length: int | None = field(metadata=NOT_WRITTEN)
    offset: int | None
    outside: bool = False

    @property
    def has_data(self) -> bool:
        """True if the file has bytes for it, be they none."""
        return self.length is not None

    @property
    @in_document()
    def size_bytes(self) -> int:
        """How many bytes it holds."""
        return self.length or 0

    @property
    def data(self) -> memoryview | None:
        """All its bytes, which stay in memory from now on; None where there are none.

        `ModelError` if the file has changed since it was read.
        """
        if self.length is None or self.offset is None:
            return None
        return self.file.look(self.offset, self.offset + self.length)

    def part(self, start: int, stop: int) -> memoryview:
        """Some of its bytes, fewer if it ends before; they are not kept. `ModelError` as for `data`."""
        first, end = self.offset or 0, self.size_bytes
        return self.file.read(first + min(start, end), first + min(stop, end))

    def digest(self) -> bytes:
        """The SHA-256 of its bytes, which are not kept. `ModelError` as for `data`."""
        return self.file.digest(self.offset or 0, (self.offset or 0) + self.size_bytes)
