"""Code on one line where it fits, one item a line where it does not."""

from __future__ import annotations

from shardc.emit.brackets import Bracket, Code, call, dict_of, flat, generated, lines, prefixed, tuple_of


def test_a_call_on_one_line() -> None:
    assert flat(call("rt.axis", '"heads"', "8")) == 'rt.axis("heads", 8)'


def test_a_tuple_of_one_keeps_its_comma() -> None:
    assert flat(tuple_of(["a"])) == "(a,)"
    assert flat(tuple_of(["a", "b"])) == "(a, b)"
    assert flat(tuple_of([])) == "()"


def test_a_dict() -> None:
    assert flat(prefixed("at=", dict_of(["0: a", "1: b"]))) == "at={0: a, 1: b}"
    assert flat(dict_of([])) == "{}"


def test_a_prefix_stands_before_the_first_line() -> None:
    assert prefixed("x = ", "1") == "x = 1"
    assert lines(prefixed("0: ", tuple_of(["a", "b"])), 1) == ["    0: (a, b)"]


def test_a_line_of_120_columns_fits_and_one_of_121_does_not() -> None:
    item = "x" * (120 - len("    f()"))
    assert lines(call("f", item), 1) == [f"    f({item})"]
    assert lines(call("f", item + "x"), 1) == ["    f(", f"        {item}x,", "    )"]


def test_the_end_counts_too() -> None:
    item = "x" * (120 - len("f()"))
    assert lines(call("f", item), 0) == [f"f({item})"]
    assert lines(call("f", item), 0, ",") == ["f(", f"    {item},", "),"]


def test_only_the_brackets_that_do_not_fit_are_broken() -> None:
    short: Code = tuple_of(["a", "b"])
    long: Code = tuple_of(["x" * 60, "y" * 60])
    assert lines(call("f", short, long), 0) == [
        "f(",
        "    (a, b),",
        "    (",
        f"        {'x' * 60},",
        f"        {'y' * 60},",
        "    ),",
        ")",
    ]


def test_a_plain_line_is_never_broken() -> None:
    assert lines("x" * 200, 1) == ["    " + "x" * 200]


def test_a_broken_tuple_of_one() -> None:
    assert lines(Bracket("(", ("x" * 120,), ")", single=True), 0) == ["(", f"    {'x' * 120},", ")"]


def test_clauses_of_a_generator_have_no_commas() -> None:
    loop, regions = "for i in range(4)", prefixed("for region in ", tuple_of(["x" * 60, "y" * 60]))
    assert flat(generated("region", loop, "for region in (i,)")) == "*(region for i in range(4) for region in (i,))"
    assert lines(tuple_of([generated("region", loop, regions)]), 0) == [
        "(",
        "    *(",
        "        region",
        "        for i in range(4)",
        "        for region in (",
        f"            {'x' * 60},",
        f"            {'y' * 60},",
        "        )",
        "    ),",
        ")",
    ]
