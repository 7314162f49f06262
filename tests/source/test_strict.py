"""Every feature that is refused, with its place, under both loaders of PyYAML."""

import pytest
import yaml

from shardc.source.strict import Parsed, Place, parse

LOADERS = [yaml.SafeLoader, yaml.CSafeLoader]


@pytest.fixture(params=LOADERS, ids=["python", "c"])
def loader(request: pytest.FixtureRequest) -> type:
    assert isinstance(request.param, type)
    return request.param


def faults(parsed: Parsed) -> list[tuple[str, str, tuple[int, int, int]]]:
    """(code, message, (line, col, end_col))."""
    return [(f.code, f.message, (f.place.line, f.place.col, f.place.end_col)) for f in parsed.faults]


def test_words_mean_what_they_look_like(loader: type) -> None:
    text = "a: yes_or_no\nb: 'no'\nc: -12\nd: true\ne: null\nf: ~\ng:\nh: \"017\"\ni: [1, x]\nj: {k: false}\nk: é\n"
    parsed = parse(text, loader)
    assert faults(parsed) == []
    assert parsed.data == {
        "a": "yes_or_no", "b": "no", "c": -12, "d": True, "e": None, "f": None, "g": None, "h": "017",
        "i": [1, "x"], "j": {"k": False}, "k": "é",
    }  # fmt: skip


def test_an_empty_text_is_no_data(loader: type) -> None:
    assert parse("", loader) == Parsed()


@pytest.mark.parametrize(
    ("text", "code", "message", "at"),
    [
        ("a: 1\na: 2\n", "SHD002", "`a` is given twice", (2, 1, 2)),
        ("a: {b: 1, c: 2, b: 3}\n", "SHD002", "`b` is given twice", (1, 17, 18)),
        ("a: &x 1\n", "SHD003", "anchor &x: YAML anchors are not part of the language", (1, 4, 8)),
        ("a: *x\n", "SHD003", "alias *x: YAML aliases are not part of the language", (1, 4, 6)),
        ("<<: {a: 1}\n", "SHD003", "merge keys (<<) are not part of the language", (1, 1, 3)),
        ("a: !!str 1\n", "SHD003", "tag tag:yaml.org,2002:str: YAML tags are not part of the language", (1, 4, 11)),
        ("a: !here {b: 1}\n", "SHD003", "tag !here: YAML tags are not part of the language", (1, 4, 11)),
        ("a: ! x\n", "SHD003", "tag !: YAML tags are not part of the language", (1, 4, 7)),
        ("? [a]\n: 1\n", "SHD003", "a key must be a word", (1, 3, 6)),
        ("{a: 1}: 2\n", "SHD003", "a key must be a word", (1, 1, 7)),
        ("a: 1\n---\nb: 2\n", "SHD003", "a spec file holds one document", (2, 1, 4)),
        ("%YAML 1.1\n---\na: 1\n", "SHD003", "directives (%) are not part of the language", (1, 1, 4)),
        ("a: no\n", "SHD004", "`no` is true or false to YAML, not the word it looks like", (1, 4, 6)),
        ("a: On\n", "SHD004", "`On` is true or false to YAML, not the word it looks like", (1, 4, 6)),
        ("a: True\n", "SHD004", "`True` is true or false to YAML, not the word it looks like", (1, 4, 8)),
        ("a: NULL\n", "SHD004", "`NULL` is null to YAML, not the word it looks like", (1, 4, 8)),
        ("a: 017\n", "SHD004", "`017` is a number to YAML, not the word it looks like", (1, 4, 7)),
        ("a: 0x1F\n", "SHD004", "`0x1F` is a number to YAML, not the word it looks like", (1, 4, 8)),
        ("a: +1\n", "SHD004", "`+1` is a number to YAML, not the word it looks like", (1, 4, 6)),
        ("a: 1_000\n", "SHD004", "`1_000` is a number to YAML, not the word it looks like", (1, 4, 9)),
        ("a: 12:30:45\n", "SHD004", "`12:30:45` is a number to YAML, not the word it looks like", (1, 4, 12)),
        ("a: 99999999999999999999\n", "SHD004",
         "`99999999999999999999` is a number to YAML, not the word it looks like", (1, 4, 24)),
        ("a: 1.5\n", "SHD004", "`1.5` is a fraction to YAML, not the word it looks like", (1, 4, 7)),
        ("a: .inf\n", "SHD004", "`.inf` is a fraction to YAML, not the word it looks like", (1, 4, 8)),
        ("a: 2020-01-01\n", "SHD004", "`2020-01-01` is a date to YAML, not the word it looks like", (1, 4, 14)),
        ("a: =\n", "SHD004", "`=` is a sign to YAML, not the word it looks like", (1, 4, 5)),
        ("a: {é: é, b: no}\n", "SHD004", "`no` is true or false to YAML, not the word it looks like", (1, 14, 16)),
        ("- " * 33 + "a\n", "SHD005", "nested deeper than 32 levels", (1, 65, 65)),
        ("a: b\x07c\n", "SHD001", "not YAML: the character U+0007 may not stand in a file", (1, 5, 6)),
        ("a: 1\nb: \x00\n", "SHD001", "not YAML: the character U+0000 may not stand in a file", (2, 4, 5)),
    ],
)  # fmt: skip
def test_refused(text: str, code: str, message: str, at: tuple[int, int, int], loader: type) -> None:
    parsed = parse(text, loader)
    assert faults(parsed) == [(code, message, at)]


def test_32_levels_are_taken(loader: type) -> None:
    assert faults(parse("[" * 32 + "]" * 32, loader)) == []


@pytest.mark.parametrize(
    ("text", "line"), [("a: [1\nb: 2\n", 2), ("a: 1\n\tb: 2\n", 2), ("a: 'b\n", 2), ("a: b: c\n", 1)]
)
def test_broken_text_is_shown_where_the_parser_stops(text: str, line: int, loader: type) -> None:
    (fault,) = parse(text, loader).faults
    assert (fault.code, fault.message[:10], fault.place.line) == ("SHD001", "not YAML: ", line)


def test_a_large_file_is_not_read(loader: type) -> None:
    assert faults(parse("a" * 250_001, loader)) == [("SHD005", "the file is larger than 250,000 bytes", (1, 1, 1))]


def test_a_deep_file_is_not_recursed_into(loader: type) -> None:
    assert [fault.code for fault in parse("[" * 900, loader).faults] == ["SHD005"]


def test_every_fault_of_a_kind_is_reported(loader: type) -> None:
    parsed = parse("a: &x 1\nb: *x\nc: !t 2\n", loader)
    assert [fault.place.line for fault in parsed.faults] == [1, 2, 3]
    parsed = parse("a: no\na: 2\nb: 017\n", loader)
    assert [(fault.code, fault.place.line) for fault in parsed.faults] == [("SHD004", 1), ("SHD002", 2), ("SHD004", 3)]


def test_a_duplicate_names_the_first(loader: type) -> None:
    (fault,) = parse("a: 1\nb: 2\na: 3\n", loader).faults
    assert (fault.label, fault.help) == ("first given on line 1", "keep one of them")


def test_places(loader: type) -> None:
    parsed = parse("groups:\n  attention:\n    shape: [heads * 2, 'q | k']\n", loader)
    shape = ("groups", "attention", "shape")
    assert parsed.keys[shape] == Place(3, 5, 3, 10)
    assert parsed.values[(*shape, 0)] == Place(3, 13, 3, 22, plain=True)
    assert parsed.values[(*shape, 1)] == Place(3, 24, 3, 31, plain=False)
    assert parsed.values[shape] == Place(3, 12, 3, 32)
    assert parsed.values[("groups", "attention")].line == 3
    assert list(parsed.keys) == [("groups",), ("groups", "attention"), shape]
