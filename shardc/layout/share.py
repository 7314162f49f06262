"""One rank's part of an axis."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct


class Share(Struct, frozen=True):
    """One rank's part of an axis: the elements [start, stop) of the file, then `pad` elements of zero.

    Of an axis that is dealt round robin it is the first `block` of every `step` elements of [start, stop).
    """

    start: int
    stop: int
    pad: int = 0
    step: int = 1
    block: int = 1

    @property
    def real(self) -> int:
        """How many elements of the file it has."""
        steps, rest = divmod(self.stop - self.start, self.step)
        return steps * self.block + min(rest, self.block)

    @property
    def local(self) -> int:
        return self.real + self.pad

    @property
    def run_count(self) -> int:
        """How many runs it has."""
        return max(1, -(-(self.stop - self.start) // self.step)) if self.step > 1 else 1

    @property
    def runs(self) -> Iterator[tuple[int, int]]:
        """Its elements as [start, stop), in order: one run, and round robin one for each granule."""
        if self.step == 1 or self.start == self.stop:
            yield self.start, self.stop
            return
        for start in range(self.start, self.stop, self.step):
            yield start, min(start + self.block, self.stop)

    @property
    def with_padding(self) -> tuple[tuple[int, int, int], ...]:
        """Its runs as regions (start, stop, pad), the padding behind the last."""
        *whole, (start, stop) = self.runs
        return (*((a, b, 0) for a, b in whole), (start, stop, self.pad))

    def __contains__(self, element: int) -> bool:
        return self.start <= element < self.stop and (element - self.start) % self.step < self.block

    def __mul__(self, group: int) -> Share:
        start, stop, pad = self.start * group, self.stop * group, self.pad * group
        if self.step == 1 or group == 0:
            return Share(start, stop, pad)
        return Share(start, stop, pad, self.step * group, self.block * group)
