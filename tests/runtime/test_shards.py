from dataclasses import replace

from shardc.runtime import Shard
from shardc.runtime.shards import Layout

HALVES = Layout(
    kind="segmented_rows",
    format="dense",
    dtype="F32",
    dtypes=("BF16", "F32"),
    load="BF16",
    shape=(44, 2),
    at=(((11, 22, 1), (33, 44, 1)), ((0, 2, 0),)),
)


def test_sizes() -> None:
    assert HALVES.local_shape == (24, 2)
    assert HALVES.full_bytes == 44 * 2 * 4
    assert HALVES.local_bytes == 24 * 2 * 2


def test_dtypes() -> None:
    assert HALVES.local_dtype == "BF16"
    assert replace(HALVES, load=None).local_dtype == "F32"


def test_whole() -> None:
    assert not HALVES.whole
    assert replace(HALVES, at=(((0, 44, 0),), ((0, 2, 0),))).whole


def test_a_scalar() -> None:
    scalar = Layout("replicated", "dense", "F32", ("F32",), None, (), ())
    assert (scalar.local_shape, scalar.local_bytes, scalar.whole) == ((), 4, True)


def test_equal_layouts_are_one_key() -> None:
    other = replace(HALVES)
    assert other is not HALVES
    assert {HALVES: 1}[other] == 1
    assert HALVES not in {replace(HALVES, load=None): 1}
    assert HALVES not in {replace(HALVES, kind="vocab_rows"): 1}
    assert Shard("w", HALVES) == Shard("w", other) != Shard("w", replace(HALVES, kind="vocab_rows"))


def test_a_shard_says_what_its_layout_does() -> None:
    shard = Shard("w13.weight", replace(HALVES, values=(1, 2)))
    told = [one for one in dir(Shard) if isinstance(getattr(Shard, one), property)]
    assert {name: getattr(shard, name) for name in told} == {
        "at": (((11, 22, 1), (33, 44, 1)), ((0, 2, 0),)),
        "dtype": "F32",
        "format": "dense",
        "full_bytes": 352,
        "kind": "segmented_rows",
        "local_bytes": 96,
        "local_dtype": "BF16",
        "local_shape": (24, 2),
        "shape": (44, 2),
        "values": (1, 2),
    }
