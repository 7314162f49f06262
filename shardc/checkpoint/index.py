"""Which file of a directory holds each tensor: by `*.safetensors.index.json`, or else by every file's header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from shardc.checkpoint.file_findings import bad_index, quoted, shown
from shardc.checkpoint.headers import Header
from shardc.checkpoint.json_text import read_json
from shardc.checkpoint.shadowed import shadowed
from shardc.checkpoint.stored import read_each_stored
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import counts

_SUFFIX = ".safetensors"
_INDEX_SUFFIX = ".safetensors.index.json"
_USUAL_INDEX = "model.safetensors.index.json"


def read_weights(directory: Path) -> tuple[dict[str, Header] | None, list[Diagnostic]]:
    """Reads the headers of a directory's safetensors files: SHD406 for a broken file, SHD407 where they disagree.

    Where an index decides between copies of a tensor, the ones left aside are a warning, SHD413.
    Raises OSError if the directory can't be listed.
    """
    present = sorted(entry.name for entry in directory.iterdir() if entry.is_file())
    indexes = [name for name in present if name.endswith(_INDEX_SUFFIX)]
    if _USUAL_INDEX in indexes:
        indexes = [_USUAL_INDEX]
    if len(indexes) > 1:
        finding = bad_index(
            directory,
            "has several indexes",
            expected=f"one index, or one named {_USUAL_INDEX}",
            found=", ".join(indexes),
            help="move the indexes that are not meant, with their weights, elsewhere",
        )
        return None, [finding]
    headers: dict[str, Header] = {}
    if indexes:
        findings = list(_read_indexed(directory / indexes[0], set(present), headers))
    else:
        findings = list(_read_all(directory, [name for name in present if name.endswith(_SUFFIX)], headers))
    return (None if counts(findings).errors else headers), findings


def _read_all(directory: Path, files: Sequence[str], headers: dict[str, Header]) -> Iterator[Diagnostic]:
    """Adds the tensors of all files to `headers`."""
    holders: dict[str, str] = {}
    read = read_each_stored([directory / file for file in files])
    for file, (stored, findings) in zip(files, read, strict=True):
        yield from findings
        repeated: dict[str, list[str]] = {}
        for name in stored or {}:
            holder = holders.setdefault(name, file)
            if holder != file:
                repeated.setdefault(holder, []).append(name)
        headers |= stored or {}
        for other, (first, *more) in repeated.items():
            yield bad_index(
                directory / file,
                f"holds {quoted(first)}, which {other} holds too",
                expected="each tensor in one file, or an index that decides",
                found=f"in {other} and {file}",
                help="remove the file that does not belong to the checkpoint, or add its index",
                same_cause=tuple(more),
            )


def _read_indexed(index: Path, present: set[str], headers: dict[str, Header]) -> Iterator[Diagnostic]:
    """Adds the tensors that an index names to `headers`, each as the file it names has it."""
    document = read_json(index)
    if isinstance(document, Diagnostic):
        yield document
        return
    weight_map = document.data.get("weight_map")
    if not isinstance(weight_map, dict) or set(map(type, weight_map.values())) - {str}:
        yield bad_index(
            index,
            "does not say which file holds each tensor",
            expected="`weight_map`, an object of tensor names to file names",
            found=shown(weight_map) if "weight_map" in document.data else "no `weight_map`",
            help="download the index again, or remove it: every *.safetensors is then read",
        )
        return
    other: dict[str, Mapping[str, Header]] = {}
    by_file = _by_file(weight_map)
    read = read_each_stored([index.parent / file for file in by_file if _is_plain(file) and file in present])
    for file, names in by_file.items():
        if not _is_plain(file):
            yield _bad_name(index, file, names)
        elif file not in present:
            yield _missing(index, file, names)
        else:
            stored, findings = next(read)
            yield from findings
            if stored is None:
                continue
            if stored.keys() == set(names):
                headers |= stored
            else:
                other[file] = stored
                headers |= {name: stored[name] for name in names if name in stored}
                absent = [name for name in names if name not in stored]
                if absent:
                    yield _absent(index, file, absent, len(stored))
    yield from shadowed(index, other, weight_map)


def _is_plain(file: str) -> bool:
    """Whether an index names a file beside it."""
    return not {"/", "\\", "\0"} & set(file) and file not in ("", ".", "..")


def _by_file(weight_map: Mapping[str, str]) -> dict[str, list[str]]:
    """The tensors of each file, in the index's order; the files sorted."""
    files: dict[str, list[str]] = {file: [] for file in sorted(set(weight_map.values()))}
    for name, file in weight_map.items():
        files[file].append(name)
    return files


def _absent(index: Path, file: str, absent: Sequence[str], held: int) -> Diagnostic:
    return bad_index(
        index,
        f"says that {file} holds {quoted(absent[0])}",
        expected=f"{quoted(absent[0])} in {file}",
        found=f"a file without it (tensors: {held})",
        help="index and weights are of different revisions: download both again",
        same_cause=tuple(absent[1:]),
    )


def _bad_name(index: Path, file: str, names: Sequence[str]) -> Diagnostic:
    return bad_index(
        index,
        f"names a file outside its directory for {_listed(names)}",
        expected="the name of a file beside the index",
        found=shown(file),
        help="do not load this checkpoint: get it again from where it was published",
    )


def _missing(index: Path, file: str, names: Sequence[str]) -> Diagnostic:
    return bad_index(
        index,
        f"names {quoted(file)}, which is missing",
        expected=f"{quoted(file)}, with {_listed(names)}",
        found="no such file",
        help=f"an incomplete download? Get the file, into {index.parent}",
    )


def _listed(names: Sequence[str]) -> str:
    return f"1 tensor, {quoted(names[0])}" if len(names) == 1 else f"{len(names)} tensors, such as {quoted(names[0])}"
