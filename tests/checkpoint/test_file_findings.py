from pathlib import Path

from shardc.checkpoint.file_findings import Fault, bad_index, broken_file, broken_tensors, quoted, shown, unreadable
from shardc.diagnostics import Diagnostic, Value


def test_a_broken_file_names_the_path_as_given() -> None:
    finding = broken_file(Path("a/b.safetensors"), "is too short", expected="8 bytes", found="3 bytes", help="again")
    assert finding == Diagnostic(
        code="SHD406",
        message="a/b.safetensors: is too short",
        values=(Value("expected", "8 bytes"), Value("found", "3 bytes")),
        help="again",
        about="a/b.safetensors",
    )


def test_a_bad_index_has_its_own_code() -> None:
    assert bad_index(Path("i.json"), "names nothing", expected="x", found="y").code == "SHD407"


def test_unreadable_says_what_the_system_says() -> None:
    finding = unreadable(Path("x"), PermissionError(13, "Permission denied"))
    assert finding.values[1] == Value("found", "Permission denied")
    assert unreadable(Path("x"), EOFError("cut off")).values[1] == Value("found", "cut off")


def test_one_finding_per_problem_with_the_other_tensors_as_same_cause() -> None:
    faults = [Fault("a", "is bad", "1", "2"), Fault("b", "is worse", "3", "4"), Fault("c", "is bad", "5", "6")]
    first, second = broken_tensors(Path("f"), faults, help="again")
    assert (first.message, first.same_cause) == ("f: `a` is bad", ("c",))
    assert first.values == (Value("expected", "1"), Value("found", "2"))
    assert (second.message, second.same_cause) == ("f: `b` is worse", ())


def test_names_and_values_are_cut_to_a_length_that_a_message_can_carry() -> None:
    assert quoted("a" * 200) == f"`{'a' * 200}`"
    assert quoted("a" * 201) == f"`{'a' * 200}…`"
    assert len(shown(["x" * 1000] * 1000)) < 1000
    assert shown({"a": [1, 2]}) == "{'a': [1, 2]}"
