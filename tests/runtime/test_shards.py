from shardc.runtime import Shard

HALVES = Shard(
    name="w13.weight",
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


def test_zero_fill() -> None:
    assert HALVES.zero_fill == (((11, 12), (0, 2)), ((23, 24), (0, 2)))


def test_dtypes() -> None:
    assert HALVES.local_dtype == "BF16"
    assert HALVES._replace(load=None).local_dtype == "F32"


def test_whole() -> None:
    assert not HALVES.whole
    assert HALVES._replace(at=(((0, 44, 0),), ((0, 2, 0),))).whole


def test_a_scalar() -> None:
    scalar = Shard("scale", "replicated", "dense", "F32", ("F32",), None, (), ())
    assert (scalar.local_shape, scalar.local_bytes, scalar.zero_fill, scalar.whole) == ((), 4, (), True)
