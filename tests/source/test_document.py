from pathlib import Path

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.source import Document, load, loads


def document(text: str) -> Document:
    found, findings = loads(text, "spec.yaml")
    assert found is not None
    assert findings == []
    return found


def span(line: int, col: int, end_col: int) -> Span:
    return Span("spec.yaml", line, col, line, end_col)


TEXT = "axes:\n  heads: {size: num_heads}\nlet:\n  q: heads * 2\n  k: 'heads * 2'\n"


def test_data_and_places() -> None:
    spec = document(TEXT)
    assert spec.data == {"axes": {"heads": {"size": "num_heads"}}, "let": {"q": "heads * 2", "k": "heads * 2"}}
    assert spec.value("axes", "heads", "size") == span(2, 17, 26)
    assert spec.key("axes", "heads", "size") == span(2, 11, 15)


def test_what_is_absent_is_shown_at_the_nearest_thing_around_it() -> None:
    spec = document(TEXT)
    assert spec.value("axes", "heads", "over") == span(2, 10, 27)
    assert spec.key("axes", "heads", "over") == span(2, 10, 27)
    assert spec.key("contracts", 0) == spec.value()


def test_columns_inside_a_formula() -> None:
    spec = document(TEXT)
    assert spec.inside(("let", "q"), 8, 9) == span(4, 14, 15)
    assert spec.inside(("let", "q"), 8, 500) == span(4, 14, 15)


def test_columns_of_a_quoted_formula_are_those_of_all_of_it() -> None:
    assert document(TEXT).inside(("let", "k"), 8, 9) == span(5, 6, 17)


def test_columns_of_a_formula_on_several_lines_are_those_of_all_of_it() -> None:
    assert document("let:\n  q: heads *\n    2\n").inside(("let", "q"), 0, 5) == Span("spec.yaml", 2, 6, 3, 6)


def test_an_empty_document() -> None:
    spec = document("")
    assert spec.data is None
    assert spec.value("axes") == span(1, 1, 1)


def test_faults_are_findings_and_no_document() -> None:
    found, findings = loads("a: 1\na: 2\n", "spec.yaml")
    assert found is None
    assert findings == [
        Diagnostic(
            "SHD002", "`a` is given twice", Label(span(2, 1, 2), "first given on line 1"), help="keep one of them"
        )
    ]


def test_load_shows_the_name_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: no\n")
    _, (finding,) = load(path, "specs/x.yaml")
    assert finding.label == Label(Span("specs/x.yaml", 1, 4, 1, 6))
    path.write_text("a: é\n", encoding="utf-8")
    found, findings = load(path)
    assert findings == []
    assert found is not None
    assert (found.file, found.data) == (str(path), {"a": "é"})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert load(tmp_path / "x.yaml", "x.yaml") == (
        None,
        [Diagnostic("SHD001", "cannot read x.yaml: No such file or directory", about="x.yaml")],
    )


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: \xff")
    assert load(path, "x.yaml") == (
        None,
        [Diagnostic("SHD001", "x.yaml is not UTF-8 (byte 3)", help="save the file as UTF-8", about="x.yaml")],
    )
