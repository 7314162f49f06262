import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shardc.checkpoint import json_text
from shardc.checkpoint.json_text import JsonError, JsonFile, decoded, parse_object, read_json
from shardc.diagnostics import Diagnostic, Label, Span, Value

#: What stands in JSON or looks so, for two readers to disagree on.
WORDS = [
    *"[]{},:\"\\ \n\t0-1.eE+/", '"a"', '"a":', '{"a":', "null", "true", "True", "NaN", "-Infinity", "01", "-0", "-0.0",
    "1.", ".5", "1e5", "1E+400", "1e-400", "9" * 30, "-9223372036854775809", "18446744073709551616", "0.1234567890123456789",
    "2.2250738585072011e-308", "9007199254740993.0", r'"\ud83d\ude00"', r'"\ud83d"', r'"\u00e9\u0000"', r'"\x"', '"é"', "\x00",
    "\ufeff", "\u2028", "// c", "'a'",
]  # fmt: skip


def test_an_object_and_its_text() -> None:
    assert parse_object(b'{"a": [1, null]} ') == ({"a": [1, None]}, '{"a": [1, null]} ')


def test_colons_may_stand_in_strings() -> None:
    text = '{"a:b": "c:d", "e": [{"f": {"g": ":"}}, []]}'
    assert parse_object(text.encode()) == ({"a:b": "c:d", "e": [{"f": {"g": ":"}}, []]}, text)


@st.composite
def json_like(draw: st.DrawFn) -> str:
    """JSON, of which a piece may be another."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9)
    text = json.dumps(draw(values), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    start, end = sorted([draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))])
    return draw(st.sampled_from([text, text[:start] + "".join(draw(st.lists(st.sampled_from(WORDS)))) + text[end:]]))


def outcome(read: Callable[[], object]) -> str:
    """What it gives, types and all, or what it raises."""
    try:
        return repr(read())
    except (ValueError, RecursionError) as error:
        return repr(error)


@given(json_like() | st.lists(st.sampled_from(WORDS)).map("".join))
@example('{"a": 1, "a": 2}')
@example("[" * 10_000)
def test_both_readers_of_json_give_the_same(text: str) -> None:
    assert outcome(lambda: decoded(text)) == outcome(lambda: json.loads(text))


@pytest.mark.parametrize("word", WORDS)
def test_both_readers_give_the_same_of_a_word_by_itself(word: str) -> None:
    assert outcome(lambda: decoded(word)) == outcome(lambda: json.loads(word))


@pytest.mark.parametrize("text", ['{"c": 1, "c": 2}', '[{"c": 1}, {"c": {}, "c": ":"}]', '{"b": [[{"c": 0, "c": 0}]]}'])
def test_a_key_twice_is_found_wherever_it_is(text: str) -> None:
    assert parse_object(f'{{"a": {text}}}'.encode()) == JsonError("the key `c` twice in one object")


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert parse_object(rb'{"a": "\ud83d\ude00"}') == ({"a": "😀"}, r'{"a": "\ud83d\ude00"}')


@pytest.mark.parametrize(
    ("data", "error"),
    [
        pytest.param(b"", JsonError("Expecting value", 1, 1), id="empty"),
        pytest.param(b'{\n "a": 1,}', JsonError("Expecting property name enclosed in double quotes", 2, 9), id="comma"),
        pytest.param(b'{1: "a"}', JsonError("Expecting property name enclosed in double quotes", 1, 2), id="int key"),
        pytest.param(b"{} {}", JsonError("Extra data", 1, 4), id="two objects"),
        pytest.param(b"[1, 2]", JsonError("[1, 2]"), id="a list"),
        pytest.param(b"NaN", JsonError("nan"), id="NaN"),
        pytest.param(b'{"a": 1, "b": {"c": 1, "c": 2}}', JsonError("the key `c` twice in one object"), id="duplicate"),
        pytest.param(b'{"a": "\xff"}', JsonError("not UTF-8 at byte 7"), id="latin-1"),
        pytest.param(rb'{"\uD800": 1}', JsonError("half of a surrogate pair in a string"), id="surrogate"),
        pytest.param(b'{"a": ' + b"[" * 100_000, JsonError("nested too deeply"), id="deep lists"),
        pytest.param(b'{"a": ' * 100_000, JsonError("nested too deeply"), id="deep objects"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", JsonError("a number with too many digits"), id="huge int"),
    ],
)
def test_anything_else_is_an_error_with_a_reason(data: bytes, error: JsonError) -> None:
    assert parse_object(data) == error


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_reads_plain_and_packed_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b'{"a": 1}', mtime=0) if name.endswith(".gz") else b'{"a": 1}')
    assert read_json(path) == JsonFile(path, '{"a": 1}', {"a": 1})


def test_a_syntax_error_is_shown_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{\n  "a": tru\n}')
    assert read_json(path) == Diagnostic(
        code="SHD406",
        message=f"{path}: does not hold a JSON object",
        label=Label(Span(str(path), 2, 8, 2, 9)),
        values=(Value("expected", "a JSON object"), Value("found", "Expecting value")),
    )


def test_a_syntax_error_in_a_packed_file_has_no_label(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b"{", mtime=0))
    finding = read_json(path)
    assert isinstance(finding, Diagnostic)
    assert finding.label is None


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"not gzip", "Not a gzipped file (b'no')"),
        (gzip.compress(b'{"a": 1}', mtime=0)[:-9], "Compressed file ended before the end-of-stream marker was reached"),
        (
            gzip.compress(b'{"a": 1}', mtime=0)[:10] + b"\xff" * 20,
            "Error -3 while decompressing data: invalid block type",
        ),
    ],
)
def test_a_broken_gzip_file(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(data)
    finding = read_json(path)
    assert isinstance(finding, Diagnostic)
    assert finding.message == f"{path}: cannot be read"
    assert finding.values[1] == Value("found", found)


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        finding = read_json(path)
        assert isinstance(finding, Diagnostic)
        assert finding.message == f"{path}: is missing"


def test_a_file_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_JSON_BYTES", 1000)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 1001, mtime=0))
    finding = read_json(path)
    assert isinstance(finding, Diagnostic)
    assert finding.message == f"{path}: is too large"
    assert finding.values == (Value("expected", "at most 1,000 bytes"), Value("found", "more"))
