"""Putting a checkpoint together again from its ranks' files: its own files, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.headers import Header
from shardc.runtime.manifests import RANK_MANIFEST, original_headers
from shardc.runtime.rectangles import Rectangle, zero_rectangles
from shardc.store.blocks import blocks, moved, shape_of, whole
from shardc.store.companions import copy_small_files
from shardc.store.patches import Content, Patch
from shardc.store.ranked import Ranked
from shardc.store.reader import Reader
from shardc.store.source import in_file_order
from shardc.store.writer import Progress, write_file, write_text


class Merger:
    """The original's files, one at a time. Ranks that have the same region have to have the same bytes."""

    def __init__(self, directory: Path, out: Path) -> None:
        """Raises ShardError where ranks are missing, broken, or of several runs."""
        self.ranked = Ranked(directory)
        self.out = out
        self.reader = Reader()
        self._differing: dict[tuple[str, str], Finding] = {}

    def files(self) -> list[str]:
        """The names of the original's files."""
        return list(self.ranked.known.files)

    def begin(self) -> None:
        """Copies the small files."""
        self.out.mkdir(parents=True, exist_ok=True)
        copy_small_files(self.ranked.directory, self.out)

    def finish(self) -> None:
        """Writes the index, where the original had one."""
        if self.ranked.known.index_file:
            name, text = self.ranked.known.index_file
            write_text(self.out / name, text)

    def bytes_of(self, file: str) -> int:
        """Bytes of tensors in a file."""
        return sum(content.nbytes for content in self._contents(file))

    def write(self, file: str, progress: Progress) -> int:
        """One file; its bytes of tensors.

        Raises SHD418 (replicas differ) and SHD419 (padding is not zero), all together; there is no file then.
        """
        self._differing = {}
        contents = (self._filled(content) for content in self._contents(file))
        text = self.ranked.known.files[file].encode()
        write_file(self.out / file, text, self._checked(contents), self.reader, progress, self._compare)
        return self.bytes_of(file)

    def _contents(self, file: str) -> list[Content]:
        return in_file_order(original_headers(file, self.ranked.known.files[file]))

    def _filled(self, content: Content) -> Content:
        name = content.name
        given = self.ranked.originals.get(name)
        if given is not None and len(given) != content.nbytes:
            raise ShardError(("SHD406", f"{RANK_MANIFEST}: {name} has {len(given)} bytes of {content.nbytes}"))
        if given is not None:
            return content._replace(given=given)
        return content._replace(patches=self.ranked.patches(name), replicas=self.ranked.replicas(name))

    def _checked(self, contents: Iterator[Content]) -> Iterator[Content]:
        """The contents; behind each its padding is looked at, and behind the last what was found is raised."""
        for content in contents:
            yield content
            self._padding(content)
        if self._differing:
            raise ShardError(*self._differing.values())

    def _compare(self, content: Content, block: Rectangle, held: torch.Tensor, replica: Patch) -> None:
        """SHD418 for the first element in which a replica is not what was taken from the first rank that has it."""
        key = (content.name, replica.folder)
        found = self.reader.part(content.name, replica.header, replica.source)
        if key in self._differing or torch.equal(held, found):
            return
        at = first_of(held != found)
        place = tuple(start + begin + i for (start, _), (begin, _), i in zip(block, replica.to, at, strict=True))
        first = self._first_holder(content, place)
        original = self.ranked.headers[content.name]
        offset = original.begin + flat(place, content.shape) * TORCH_DTYPES[content.dtype].itemsize
        text = f"{content.name}{list(place)} (byte {offset} of {original.file})"
        self._differing[key] = ("SHD418", f"{text} is not the same in {first} and in {replica.folder}")

    def _first_holder(self, content: Content, place: tuple[int, ...]) -> str:
        """The folder that an element of the full tensor was taken from."""
        inside = (
            patch.folder
            for patch in content.patches
            if all(start <= at < stop for at, (start, stop) in zip(place, patch.to, strict=True))
        )
        return next(inside)

    def _padding(self, content: Content) -> None:
        """SHD419 for the first element of padding on each rank that is not zero."""
        if content.given is not None:
            return
        for folder, layout in self.ranked.layouts(content.name).items():
            header = self.ranked.local[folder][content.name]
            place = self._first_not_zero(content.name, header, zero_rectangles(layout.at))
            if place is not None:
                text = f"{content.name}{list(place)} in {folder} is padding, and is not zero"
                self._differing[content.name, f"{folder} padding"] = ("SHD419", text)

    def _first_not_zero(self, name: str, header: Header, zeros: tuple[Rectangle, ...]) -> tuple[int, ...] | None:
        item_bytes = TORCH_DTYPES[header.dtype].itemsize
        for rectangle in zeros:
            shape = shape_of(rectangle)
            for block in blocks(shape, item_bytes):
                part = self.reader.part(name, header, moved(block, whole(shape), rectangle))
                if bool(part.any()):
                    at = first_of(part != 0)
                    begins = ((start + low) for (start, _), (low, _) in zip(rectangle, block, strict=True))
                    return tuple(begin + i for begin, i in zip(begins, at, strict=True))
            self.reader.drop(header)
        return None


def first_of(mask: torch.Tensor) -> tuple[int, ...]:
    """Where the first true element is."""
    flat_at = int(mask.reshape(-1).to(torch.uint8).argmax())
    place = []
    for size in reversed(mask.shape):
        flat_at, at = divmod(flat_at, size)
        place.append(at)
    return tuple(reversed(place))


def flat(place: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """The number of an element, in the order of the file."""
    number = 0
    for at, size in zip(place, shape, strict=True):
        number = number * size + at
    return number
