"""A YAML document as a spec: one finding for each field that is wrong, where it stands, and what to do."""

from __future__ import annotations

import pytest

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.source import loads
from shardc.spec.read import read_spec

SPEC = """\
spec: 1
name: tiny
architectures: [Tiny]
dtype: BF16
groups:
  all:
    tensors:
      w: {shape: [4], shard: replicated}
"""


def findings(text: str) -> list[Diagnostic]:
    document, faults = loads(text, "spec.yaml")
    assert document is not None, faults
    spec, found = read_spec(document)
    assert (spec is None) == bool(found)
    return found


def only(text: str) -> Diagnostic:
    (finding,) = findings(text)
    return finding


def label(line: int, col: int, end_col: int, text: str = "") -> Label:
    return Label(Span("spec.yaml", line, col, line, end_col), text)


def test_a_spec() -> None:
    document, _ = loads(SPEC, "spec.yaml")
    assert document is not None
    spec, found = read_spec(document)
    assert found == []
    assert spec is not None
    assert (spec.name, list(spec.groups["all"].tensors)) == ("tiny", ["w"])


@pytest.mark.parametrize(
    ("text", "shown"), [("", label(1, 1, 1)), ("spec\n", label(1, 1, 5)), ("[spec, 1]\n", label(1, 1, 10))]
)
def test_what_is_no_mapping(text: str, shown: Label) -> None:
    assert only(text) == Diagnostic("SHD101", "a spec is a mapping of fields", shown, help="begin with `spec: 1`")


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        pytest.param(
            "abuot: x\n",
            Diagnostic("SHD102", "unknown field `abuot`", label(9, 1, 6, "did you mean `about`?")),
            id="a slip",
        ),
        pytest.param(
            "mesh: 4\n",
            Diagnostic(
                "SHD102", "unknown field `mesh`", label(9, 1, 5),
                help="fields here: about, architectures, axes, config, contracts, dtype, formats, groups, ignore, let, name, "
                    "root, spec, targets",
            ), id="a field of another language",
        ),
        pytest.param(
            "axes: {a: {size: 4, if_unevn: spread}}\n",
            Diagnostic("SHD102", "unknown field `if_unevn`", label(9, 21, 29, "did you mean `if_uneven`?")),
            id="a slip inside",
        ),
        pytest.param(
            "targets: [{checkpoint: x, tp: 4}]\n",
            Diagnostic("SHD101", "`tp` must be a list, not `4`", label(9, 31, 32), help="write `[4]`"),
            id="a list of one",
        ),
        pytest.param(
            "let: [a, {b: null}]\n",
            Diagnostic("SHD101", "`let` must be a mapping, not `[a, {b: null}]`", label(9, 6, 20)), id="a list",
        ),
        pytest.param(
            "axes: {a: {size: 4, if_uneven: true}}\n",
            Diagnostic(
                "SHD106", "`true` is not a choice for `if_uneven`: `error`, `spread`, `ceil`, `whole`", label(9, 32, 36)
            ), id="no choice",
        ),
        pytest.param(
            "config: {n: {else: 4}}\n",
            Diagnostic(
                "SHD101", "a symbol needs `key:`, a path of config.json, or `tensor:`, whose header has it",
                label(9, 13, 22),
            ), id="a rule of several fields",
        ),
        pytest.param(
            "ignore: [{name: x}]\n",
            Diagnostic("SHD101", "`because` is missing", label(9, 10, 19), help="add `because:`"), id="missing",
        ),
        pytest.param(
            "let: {Q: 4}\n",
            Diagnostic(
                "SHD101", "`Q` is not a name that can stand here", label(9, 7, 8),
                help="a lower-case letter, then lower-case letters, digits and `_`",
            ), id="a name as a key",
        ),
        pytest.param(
            "root: text-config\n",
            Diagnostic(
                "SHD101", "`text-config` is not a name that can stand here", label(9, 7, 18),
                help="letters, digits and `_`; a `.` between keys",
            ), id="a name as a value",
        ),
        pytest.param(
            "config: {n: [a, 5]}\n",
            Diagnostic("SHD101", "each of `n` must be a word, not `5`", label(9, 13, 19)),
            id="the field that a short form leaves out",
        ),
    ],
)  # fmt: skip
def test_findings(added: str, expected: Diagnostic) -> None:
    assert only(SPEC + added) == expected


@pytest.mark.parametrize(
    ("was", "now", "help"),
    [
        ("name: tiny", "name: tiny-model", "a lower-case letter, then lower-case letters, digits and `_`"),
        ("[Tiny]", "[Tiny-2]", "a letter, then letters, digits and `_`"),
        ("w:", "w/x:", "letters, digits, `_`, `-` and `.`; indices in braces: `layers.{layer}`"),
        (
            "spec: 1", "ignore: [{name: a/b, because: unused}]\nspec: 1",
            "letters, digits, `_`, `-` and `.`; `*` for any run of characters",
        ),
        (
            "spec: 1", "targets: [{checkpoint: a/b}]\nspec: 1",
            "a letter or digit, then letters, digits, `_`, `-` and `.`",
        ),
    ],
)  # fmt: skip
def test_help_with_names(was: str, now: str, help: str) -> None:
    """Each kind of name has a spelling of its own."""
    assert only(SPEC.replace(was, now)).help == help


def test_missing_fields_are_shown_where_they_belong() -> None:
    assert only(SPEC.replace("name: tiny\n", "")).message == "`name` is missing"
    finding = only(SPEC.replace(", shard: replicated", ""))
    assert finding == Diagnostic("SHD101", "`shard` is missing", label(8, 7, 8), help="add `shard:`")


def test_a_slip_for_a_required_field_is_not_a_missing_one_too() -> None:
    assert [finding.message for finding in findings(SPEC.replace("shard:", "shrad:"))] == ["unknown field `shrad`"]
    both = findings(SPEC.replace("shard:", "kind:"))
    assert sorted(finding.message for finding in both) == ["`shard` is missing", "unknown field `kind`"]


def test_every_wrong_field_is_found() -> None:
    found = findings(
        SPEC.replace("name: tiny", "name: 5").replace("[4]", "4") + "let: 3\naxes: {a: {size: 4, granule: 0}}\n"
    )
    assert sorted(finding.message for finding in found) == [
        "`granule` must be at least 1, not 0",
        "`let` must be a mapping, not `3`",
        "`name` must be a word, not `5`",
        "`shape` must be a list, not `4`",
    ]


def test_long_values_are_cut() -> None:
    long = "x" * 100
    shown = "x" * 40 + "…"
    assert only(f"{SPEC}let: {long}\n").message == f"`let` must be a mapping, not `{shown}`"
    assert only(f"{SPEC}let: {{{long}: 1}}\n").message == f"`{shown}`: string should have at most 60 characters"
    assert only(f"{SPEC}root: é{long}\n").message == f"`é{shown[1:]}` is not a name that can stand here"
    assert only(f"{SPEC}{long}: 1\n").message == f"unknown field `{shown}`"
    assert only(f"{SPEC}axes: {{a: {{size: 4, role: {long}}}}}\n").message == (
        f"`{shown}` is not a choice for `role`: `heads`, `vocab`, `experts`, `layers`, `plain`"
    )


def test_more_wrong_fields_than_are_shown() -> None:
    found = findings(SPEC + "".join(f"x{i}: 1\n" for i in range(201)))
    assert len(found) == 201
    assert (found[-1].code, found[-1].message) == ("SHD005", "201 fields are wrong; the first 200 are shown")
    assert len(findings(SPEC + "".join(f"x{i}: 1\n" for i in range(200)))) == 200
