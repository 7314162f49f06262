"""The tensors of a group as they are written: in the group itself, or in fragments of the library that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from msgspec import Struct, field

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.expr import Expr
from shardc.plan.formulas import Formulas
from shardc.source import Path_
from shardc.spec.group import Group, Tensor, Use
from shardc.spec.library import fragment_file, fragment_names


class Written(Struct, frozen=True):
    """One tensor and its place. Of a fragment: the `use` of it, and what its names stand for."""

    key: str
    tensor: Tensor
    path: Path_
    use: Use | None = None
    given: Mapping[str, Expr] = field(default_factory=dict)


def written_tensors(source: Group, path: Path_, known: Iterable[str], formulas: Formulas) -> list[Written]:
    """Those of the fragments in their order, then the group's own, which replace any of the same name."""
    out: dict[str, Written] = {}
    names = set(known)
    for i, use in enumerate(source.use):
        place = (*path, "use", i)
        if place not in formulas.document.values:
            place = (*path, "use")
        found = {written.key: written for written in _of_fragment(use, place, names, formulas)}
        twice = [key for key in found if key in out and key not in source.tensors]
        if twice:
            message = f"`{twice[0]}` comes from two fragments"
            label = Label(formulas.document.value(*place))
            help = "leave one of them out, or write the tensor under `tensors:`"
            finding = Diagnostic("SHD105", message, label, help=help, same_cause=tuple(twice[1:]))
            formulas.findings.append(finding)
        out |= found
    for key, tensor in source.tensors.items():
        out[key] = Written(key, tensor, (*path, "tensors", key))
    return list(out.values())


def keys_of(source: Group) -> set[str]:
    """The names of a group's tensors, those of its fragments included."""
    fragments = [fragment_file(use.fragment) for use in source.use if use.fragment in fragment_names()]
    return {*source.tensors, *(key for fragment in fragments for key in fragment.tensors)}


def _of_fragment(use: Use, path: Path_, known: set[str], formulas: Formulas) -> list[Written]:
    document = formulas.document
    if use.fragment not in fragment_names():
        near = get_close_matches(use.fragment, fragment_names(), n=1)
        label = Label(document.value(*path), f"did you mean `{near[0]}`?" if near else "")
        help = "" if near else f"fragments: {', '.join(fragment_names())}"
        formulas.findings.append(Diagnostic("SHD106", f"unknown fragment `{use.fragment}`", label, help=help))
        return []
    fragment = fragment_file(use.fragment)
    needs = set(fragment.needs)
    given: dict[str, Expr] = {}
    usable = True
    for name, text in use.given.items():
        where = (*path, "with", name)
        if name not in needs:
            label = Label(document.key(*where))
            message = f"fragment `{use.fragment}` has no name `{name}`"
            help = f"its names: {', '.join(fragment.needs)}"
            formulas.findings.append(Diagnostic("SHD103", message, label, help=help))
        given[name] = formulas.read(text, where)
        what = "config symbols, indices, axes and lets"
        usable &= formulas.check_names(given[name], where, known, what)
    missing = [name for name in fragment.needs if name not in given and name not in known]
    if missing:
        message = f"fragment `{use.fragment}` needs {', '.join(f'`{name}`' for name in missing)}"
        label = Label(document.value(*path))
        help = f"declare it, or say what stands for it: `with: {{{missing[0]}: …}}`"
        formulas.findings.append(Diagnostic("SHD103", message, label, help=help))
    if missing or not usable:
        return []
    return [Written(key, tensor, (*path, "tensors", key), use, given) for key, tensor in fragment.tensors.items()]
