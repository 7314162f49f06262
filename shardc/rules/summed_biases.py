"""SHD207: a bias that every rank has, beside a weight whose output the ranks sum."""

from __future__ import annotations

from collections.abc import Iterator

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.kinds import axes_in, words_of
from shardc.plan.resolved import Resolved
from shardc.plan.summed import biases_of_sums


def check(resolved: Resolved) -> Iterator[Diagnostic]:
    """A warning for each, as an engine may add it after the sum."""
    entries = {entry.pattern: entry for entry in resolved.entries}
    document = resolved.document
    said = set()
    for pattern, found in biases_of_sums(resolved.entries, resolved.axes).items():
        bias, weight = entries[pattern], entries[found.weight]
        words = words_of(bias.kind)
        if "rank0" in words or bias.out_dim is None or axes_in(bias.dims[bias.out_dim], resolved.axes_of(bias)):
            continue
        if bias.path in said:
            continue
        said.add(bias.path)
        over = resolved.axes_of(weight)[found.axis].over
        rank0 = " + ".join([*(word for word in words if word != "replicated"), "rank0"])
        message = f"{bias.path[-1]} is on every rank, and the output that it is added to is summed over {over}"
        yield Diagnostic(
            "SHD207",
            message,
            Label(document.value(*bias.path, "shard"), "each rank adds it, so the sum has it once for each rank"),
            related=(Label(document.value(*weight.path, "shard"), f"its output is summed over {over}"),),
            help=f"write `shard: {rank0}`; leave it where the engine adds it after the sum",
            severity="warning",
        )
