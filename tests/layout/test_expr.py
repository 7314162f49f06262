from shardc.layout.expr import (
    Binary,
    Flag,
    Name,
    Num,
    Text,
    children,
    names,
    replace_nodes,
    segments_of,
    substitute,
    walk,
)
from shardc.layout.parse import parse
from shardc.layout.show import show


def test_columns_take_no_part_in_equality() -> None:
    one, other = parse("a * b"), parse("  a  *  b")
    assert (one == other, one != other, hash(one) == hash(other)) == (True, False, True)


def test_nodes_of_two_kinds_are_not_equal() -> None:
    for one, other in [(Num(1), Flag(True)), (Name("a"), Text("a")), (Num(1), (1,))]:
        assert (one == other, one != other) == (False, True)


def test_children_and_walk() -> None:
    tree = parse("a * (b | min(c, 2))[i]")
    assert [show(child) for child in children(tree)] == ["a", "(b | min(c, 2))[i]"]
    assert [show(node) for node in walk(parse("a * (b | 2)"))] == ["a * (b | 2)", "a", "b | 2", "b", "2"]
    assert list(children(Num(1))) == []


def test_names() -> None:
    assert names(parse("a[i].key * (b per c | 2) | 'word'")) == {"a", "i", "b", "c"}


def test_substitute() -> None:
    lets = {"q": parse("heads * dim"), "two": Num(2)}
    assert show(substitute(parse("q | two * (q | a)"), lets)) == "heads * dim | 2 * (heads * dim | a)"


def test_a_replacement_stands_where_its_name_stood() -> None:
    tree = substitute(parse("2 * q"), {"q": parse("heads * (dim + 1)")})
    assert {node.at for node in walk(tree)} == {(0, 5), (0, 1), (4, 5)}


def test_replace_nodes() -> None:
    tree = parse("local(a) + 2 * local(b)")
    assert replace_nodes(tree, {parse("local(a)"): Num(3), parse("local(b)"): Num(4)}) == Binary(
        "+", Num(3), Binary("*", Num(2), Num(4))
    )
    assert replace_nodes(Name("a"), {}) == Name("a")


def test_segments_are_flat_through_brackets_and_lets() -> None:
    lets = {"qk": parse("q | k"), "q": parse("heads * dim"), "v": parse("qk | 3")}
    assert [show(part) for part in segments_of(parse("a | (b | c * 2)"), {})] == ["a", "b", "c * 2"]
    assert [show(part) for part in segments_of(parse("2 | qk | v"), lets)] == ["2", "q", "k", "q", "k", "3"]
    assert [show(part) for part in segments_of(parse("q"), lets)] == ["q"]
    assert [show(part) for part in segments_of(parse("2 * qk"), lets)] == ["2 * qk"]
