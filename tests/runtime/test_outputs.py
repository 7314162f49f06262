import pytest

import shardc.runtime as rt
from shardc.runtime.outputs import by_name, elements, name_of

KV = rt.MeshDim("tp", 1, 4)


def test_name_of() -> None:
    assert [name_of("a"), name_of(rt.Permuted("b", ()))] == ["a", "b"]


def test_slices_of_one_name_are_one_output() -> None:
    outputs = [rt.Output("w", ("a",), slice=(0, 2)), rt.Output("x", ("c",)), rt.Output("w", ("b",), slice=(1, 2))]
    assert {name: [one.members for one in found] for name, found in by_name(outputs).items()} == {
        "w": [("a",), ("b",)],
        "x": [("c",)],
    }


def test_elements() -> None:
    heads = rt.axis("heads", 8, rt.MeshDim("tp", 1, 2))
    inner = rt.within("inner", 16, heads)
    assert elements(rt.Output("w", ("a",))) == 1
    assert elements(rt.Output("w", ("a",), by=(heads,))) == 4
    assert elements(rt.Output("w", ("a",), by=(heads, inner))) == 4


def test_one_element_may_be_shared() -> None:
    kv_heads = rt.axis("kv_heads", 2, KV, if_fewer="replicate")
    assert elements(rt.Output("w", ("a",), by=(kv_heads, rt.within("heads", 8, kv_heads)))) == 1


def test_parts_of_elements() -> None:
    """Two ranks share kv heads 0 and 1, of which the second has the query heads of kv head 1 only."""
    kv_heads = rt.axis("kv_heads", 4, KV, if_fewer="replicate", granule=2)
    with pytest.raises(rt.ShardError) as refused:
        elements(rt.Output("w", ("a",), by=(kv_heads, rt.within("heads", 16, kv_heads))))
    assert refused.value.findings == (("SHD230", "a rank with kv_heads 0..2 has only heads 4..8 of them"),)


def test_an_element_and_padding() -> None:
    """The rank's share of the kv head is padded, its query heads are not."""
    kv_heads = rt.axis("kv_heads", 2, KV, if_fewer="replicate", pad_local_to=2)
    with pytest.raises(rt.ShardError) as refused:
        elements(rt.Output("w", ("a",), by=(kv_heads, rt.within("heads", 8, kv_heads))))
    assert refused.value.findings == (("SHD230", "a rank with kv_heads 0..1 has only heads 2..4 of them"),)
