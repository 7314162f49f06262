"""How files are read: how much at once, what is read together, and how many threads read."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """How a kind of file is read, in bytes.

    window: at once; twice that where copies share bytes. direct: next to each other, from which they are a read of
    their own. parts: of memory, at most, that one read fills right where its bytes stay; part: of each, at least on
    average. gap: between two copies that are sooner read than left out; spare: all gaps of a window that are, where
    they are more than half of it. row_gap: between the rows of one copy that are. span: of the windows that a thread
    takes at once. threads: how many read; None: by what the page cache has. buffers: of a window, at most, for all
    threads together.
    """

    window: int
    direct: int
    parts: int
    part: int
    gap: int
    spare: int
    row_gap: int
    span: int
    threads: int | None
    buffers: int


KIB, MIB = 1 << 10, 1 << 20  # bytes
LOCAL = Limits(
    window=4 * MIB,
    direct=64 * KIB,
    parts=64,
    part=4 * KIB,
    gap=16 * KIB,
    spare=8 * MIB,
    row_gap=8 * MIB,
    span=8 * MIB,
    threads=None,
    buffers=4,
)
REMOTE = Limits(
    window=8 * MIB,
    direct=8 * MIB,
    parts=64,
    part=4 * KIB,
    gap=1 * MIB,
    spare=256 * KIB,
    row_gap=1 * MIB,
    span=0,
    threads=16,
    buffers=16,
)
