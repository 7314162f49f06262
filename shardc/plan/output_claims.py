"""One tensor of the file goes into one output, and the name of an output is nobody else's."""

from __future__ import annotations

from collections.abc import Iterable

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.formulas import Formulas
from shardc.plan.resolved import Entry, Member, Output


def check_claims(outputs: Iterable[Output], entries: list[Entry], formulas: Formulas) -> None:
    """Findings (SHD105) for tensors that go into two outputs, and names that are taken."""
    tensors = {entry.pattern: entry for entry in entries}
    owners: dict[str, Output] = {}
    takers: dict[str, Output] = {}
    for output in outputs:
        label = Label(formulas.document.key(*output.path))
        other = owners.setdefault(output.pattern, output)
        tensor = tensors.get(output.pattern)
        if other is not output:
            message = f"two outputs have the name `{output.pattern}`"
            related = (Label(formulas.document.key(*other.path), "and here"),)
            formulas.findings.append(Diagnostic("SHD105", message, label, related=related, help="rename one"))
        elif tensor is not None and tensor.pattern not in {member.entry.pattern for member in output.members}:
            message = f"`{output.pattern}` is the name of a tensor that does not go into this output"
            related = (Label(formulas.document.key(*tensor.path), "the tensor"),)
            formulas.findings.append(Diagnostic("SHD105", message, label, related=related, help="rename the output"))
        for member in output.members:
            pattern = member.entry.pattern
            if takers.setdefault(pattern, output) is not output or _count(output, pattern) > 1:
                _report_twice(member, takers.pop(pattern), formulas)


def _count(output: Output, pattern: str) -> int:
    return sum(member.entry.pattern == pattern for member in output.members)


def _report_twice(member: Member, first: Output, formulas: Formulas) -> None:
    label = Label(formulas.document.value(*member.path))
    message = f"`{member.entry.pattern}` goes into an output twice"
    related = (Label(formulas.document.key(*first.path), "one output"),)
    help = "a tensor of the file has one place on a rank"
    formulas.findings.append(Diagnostic("SHD105", message, label, related=related, help=help))
