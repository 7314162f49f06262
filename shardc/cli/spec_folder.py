"""The specs of a folder by the architectures that they name; each is read once."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from shardc.cli.specs import resolve_spec
from shardc.diagnostics import Diagnostic
from shardc.plan.resolved import Resolved
from shardc.source import Document, load
from shardc.spec.model import Spec
from shardc.spec.read import read_spec


class SpecFolder:
    """`*.yaml` of one folder, in the order of their names. A file is parsed when one of its architectures is asked for.

    Raises OSError where a file can't be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[Path, tuple[Spec | None, Document | None, list[Diagnostic]]] = {}
        self._resolved: dict[Path, tuple[Resolved | None, list[Diagnostic]]] = {}

    @cached_property
    def texts(self) -> dict[Path, bytes]:
        """The files, as they are."""
        return {file: file.read_bytes() for file in sorted(self.folder.glob("*.yaml")) if file.is_file()}

    def answering(self, architectures: Collection[str]) -> list[tuple[Resolved | None, list[Diagnostic]]]:
        """The specs that name one of the architectures; None with its findings for one that has errors."""
        mentioning = [file for file, text in self.texts.items() if any(n.encode() in text for n in architectures)]
        named = [file for file in mentioning if self._names(file, architectures)]
        if not named:
            unreadable = [(None, findings) for spec, _, findings in map(self._spec, mentioning) if spec is None]
            return [one for one in unreadable if one[1]]
        return [self._resolve(file) for file in named]

    def architectures(self) -> list[str]:
        """All that some spec names."""
        specs = (self._spec(file)[0] for file in self.texts)
        return sorted({name for spec in specs if spec is not None for name in spec.architectures})

    def _names(self, file: Path, architectures: Collection[str]) -> bool:
        spec, _, _ = self._spec(file)
        return spec is not None and not set(spec.architectures).isdisjoint(architectures)

    def _spec(self, file: Path) -> tuple[Spec | None, Document | None, list[Diagnostic]]:
        if file not in self._read:
            document, findings = load(file)
            spec, more = read_spec(document) if document is not None else (None, [])
            self._read[file] = spec, document, findings + more
        return self._read[file]

    def _resolve(self, file: Path) -> tuple[Resolved | None, list[Diagnostic]]:
        if file not in self._resolved:
            spec, document, _ = self._spec(file)
            assert spec is not None and document is not None
            self._resolved[file] = resolve_spec(spec, document)
        return self._resolved[file]
