"""docs/faults.md: which detector finds which planted fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

from scripts.detectors import DETECTORS, detector
from scripts.planted import ROOT, Fault

PAGE = ROOT / "docs" / "faults.md"
_TEXT = """\
# Planted faults

Each row is a slip that somebody who writes an engine could make. It is planted in a copy of a *spec* that is right, or,
where a spec cannot say such a thing, in the *module* generated of it, in the *runtime* that all modules share, or in
the *plan*: its collectives, or how it deals an axis. Each detector is then asked by itself: that one complains keeps no
other from being asked, and the ranks run wherever a plan can be made at all. Beside these, each collective of each
small config's plan at tp=2 (and ep=2) is left out in turn: all are missed in the numbers (tests/prove/test_omitted.py).

{counts}

| detector | what it compares |
|---|---|
| double entry | a tensor's kind with its shape, a bias with the weight beside it |
| split | axes with the ranks of a mesh, cuts with the formats' units |
| contract | local sizes with what kernels take |
| verify | names, shapes and dtypes with the headers of recorded checkpoints, and of the small one |
| partition proof | the rows of all ranks with the file's |
| numbers | what the ranks compute with what the whole model does: `shardc prove` |

All but the last are `shardc check` and `shardc verify`, which run no model. They cannot know what rows mean to a model:
three thirds of a tensor are a partition of it as good as any other. A slip in a shape alone, or in a kind alone, is
found by double entry (the `…-kind-alone` rows), and so is one that a bias does not share with its weight; the other
faults of specs say the same wrong thing everywhere, as somebody does who has misread a model. `latent-cut` is found by
the blocks of FP8 files, not in BF16.

The last column has the largest difference of a logit, relative to the largest logit; a right plan is at some 1e-6.
*stops*: a rank's model cannot run on its shapes. *not loaded*: the loader refuses the file. *no plan*: there is nothing
to run. *harmless*: the ranks compute the right answer all the same, as shardc cuts by the shape and not by the kind.

`python -m scripts.faults` asks again, `--write` writes this page; the faults are in
[tests/prove/faults](../tests/prove/faults).
"""


def page(faults: Sequence[Fault], numbers: Mapping[str, str]) -> str:
    """The page. `numbers` has the last column, by the faults' names."""
    groups: dict[str, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(fault.group, []).append(fault)
    parts = [_TEXT.format(counts=_counts(faults))]
    for group, members in groups.items():
        parts.append(f"## {group.capitalize()}\n\n{_matrix(members, numbers)}")
    return "\n".join(parts)


def _matrix(faults: Sequence[Fault], numbers: Mapping[str, str]) -> str:
    shown = [name for name in DETECTORS if name not in ("text", "numbers")]
    head = ["fault", "slip", "planted in", *shown, "numbers"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for fault in faults:
        found = {detector(code): code for code in sorted(fault.caught)}
        mesh = " ".join(f"{dim}={size}" for dim, size in fault.mesh.items())
        planted = " and ".join(fault.places)
        codes = [found.get(name, "") for name in shown]
        value = numbers.get(fault.name, "")
        last = f"**{value}**" if "numbers" in found else value if value == "no plan" else "harmless"
        cells = [f"`{fault.name}`", fault.slip, f"{fault.of}, {planted}, {mesh}", *codes, last]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _counts(faults: Sequence[Fault]) -> str:
    """How many there are, and how many each detector finds."""
    found = {fault.name: {detector(code) for code in fault.caught} for fault in faults}
    alone = [fault for fault in faults if found[fault.name] == {"numbers"}]
    silent = [fault for fault in alone if "SHD701" in fault.caught]
    each = ", ".join(
        f"{name} {count}"
        for name in DETECTORS
        if (count := sum(name in detectors for detectors in found.values())) and name != "numbers"
    )
    by_numbers = sum("numbers" in detectors for detectors in found.values())
    text = (
        f"{len(faults)} faults in {len({fault.of for fault in faults})} specs. Each is found. The numbers find "
        f"{by_numbers}, and {len(alone)} of these nothing else finds; {len(silent)} of those load and run without a "
        f"word, and are wrong. The others find: {each}."
    )
    return fill(text, 120)
