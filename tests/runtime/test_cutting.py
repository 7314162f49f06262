import pytest

from shardc.runtime import Dim, Family, Format, Header, Part, Shard, ShardError, Tensor
from shardc.runtime.chooser import Chooser
from shardc.runtime.cutting import cut

from .choosing import chosen
from .tiny_model import FORMATS, expert_tensors, headers_of

BF16 = ("BF16",)


def cut_as(format: str, tensor: Tensor) -> dict[str, Shard]:
    headers = headers_of(expert_tensors(format, tensor.stem, 16, 8))
    return {shard.name: shard for shard in cut([tensor], {tensor.name: chosen(tensor, FORMATS, headers)})}


def weight(**options: object) -> Tensor:
    return Tensor(
        "up.weight", Family((16, 8), "column_parallel", ("F32",), formats=("dense", "block4", "packed"), **options)
    )  # type: ignore[arg-type]


def test_a_dim_that_is_not_cut_is_whole() -> None:
    assert cut_as("dense", weight(at={0: ((4, 8),)}))["up.weight"].at == (((4, 8, 0),), ((0, 8, 0),))


def test_parts_follow_the_weight_rows() -> None:
    shards = cut_as("packed", weight(at={0: ((4, 8),)}))
    assert {name: (shard.shape, shard.local_shape) for name, shard in shards.items()} == {
        "up.weight": ((16, 4), (4, 4)),
        "up.weight_scale": ((16, 1), (4, 1)),
        "up.weight_scale_2": ((), ()),
        "up.input_scale": ((1,), (1,)),
    }
    assert [shard.kind for shard in shards.values()] == [
        "column_parallel",
        "column_parallel",
        "replicated",
        "replicated",
    ]
    assert [shard.layout.optional for shard in shards.values()] == [False, False, False, True]


def test_parts_follow_the_weight_cols() -> None:
    shards = cut_as("block4", weight(at={1: ((4, 8, 4),)}))
    assert shards["up.weight"].at == (((0, 16, 0),), ((4, 8, 4),))
    assert shards["up.weight_scale_inv"].at == (((0, 4, 0),), ((1, 2, 1),))


def test_leading_dims_stay_in_front() -> None:
    stacked = Tensor(
        "up.weight", Family((6, 16, 8), "expert_slices", BF16, at={0: ((2, 4),), 1: ((4, 8),)}, formats=("block4",))
    )
    shards = cut([stacked], {"up.weight": chosen(stacked, FORMATS)})
    assert [(shard.shape, shard.local_shape) for shard in shards] == [((6, 16, 8), (2, 4, 8)), ((6, 4, 2), (2, 1, 2))]


def test_segments_of_a_part() -> None:
    fused = Tensor(
        "qkv.weight",
        Family(
            (10, 8),
            "segmented_rows",
            BF16,
            at={0: ((4, 6), (6, 10))},
            segments={0: (6, 4)},
            formats=("block4",),
        ),
    )
    _, scale = cut([fused], {"qkv.weight": chosen(fused, FORMATS)})
    assert (scale.shape, scale.at[0]) == ((3, 2), ((1, 3, 0),))


BLOCKS = {
    "blocks": Format(
        (
            Part("{stem}_blocks", ("U8",), (Dim("out"), Dim("in", 4), Dim(None, entries=2))),
            Part("{stem}_scales", ("U8",), (Dim("out"), Dim("in", 4, whole=True))),
            Part("{stem}_shape", ("I64",), (Dim(None, entries=2),), values=("out", "in")),
        )
    )
}


def test_dims_that_follow_none_and_dims_that_are_never_cut() -> None:
    tensor = Tensor("up", Family((16, 8), "row_parallel", BF16, at={1: ((4, 8),)}, formats=("blocks",)))
    blocks, scales, shape = cut([tensor], {"up": chosen(tensor, BLOCKS)})
    assert (blocks.shape, blocks.at) == ((16, 2, 2), (((0, 16, 0),), ((1, 2, 0),), ((0, 2, 0),)))
    assert (scales.shape, scales.at) == ((16, 2), (((0, 16, 0),), ((0, 2, 0),)))
    assert (shape.shape, shape.local_shape, shape.values) == ((2,), (2,), (16, 4))
    assert (blocks.layout.whole, scales.layout.whole, shape.layout.whole) == (False, True, False)


def test_in_before_out() -> None:
    """A stacked weight that is dense as [E, in, out]: its blocks are [E, out, in / 4, 2] all the same."""
    tensor = Tensor(
        "up", Family((3, 8, 16), "row_parallel", BF16, at={1: ((4, 8, 4),)}, formats=("dense", "blocks"), swapped=True)
    )
    headers = {name: Header(dtype, shape) for name, dtype, shape in (
        ("up_blocks", "U8", (3, 16, 2, 2)), ("up_scales", "U8", (3, 16, 2)), ("up_shape", "I64", (3, 2)),
    )}  # fmt: skip
    blocks, scales, shape = cut([tensor], {"up": chosen(tensor, BLOCKS, headers)})
    assert (blocks.shape, blocks.at[1:3]) == ((3, 16, 2, 2), (((0, 16, 0),), ((1, 2, 1),)))
    assert (scales.shape, scales.local_shape) == ((3, 16, 2), (3, 16, 2))
    assert (shape.shape, shape.values) == ((3, 2), (16, 8))
    [dense] = cut([tensor], {"up": chosen(tensor, BLOCKS, {"up": Header("BF16", (3, 8, 16))})})
    assert (dense.shape, dense.at[1]) == ((3, 8, 16), ((4, 8, 4),))


def test_only_a_dense_tensor_is_loaded_as_another_dtype() -> None:
    assert cut_as("dense", weight(load="BF16"))["up.weight"].layout.load == "BF16"
    assert {shard.layout.load for shard in cut_as("packed", weight(load="BF16")).values()} == {None}


def test_tensors_of_one_family_share_all_but_their_names() -> None:
    family = Family((16, 8), "column_parallel", BF16, at={0: ((4, 8),)})
    tensors = [Tensor(f"{n}.weight", family) for n in range(2)]
    first, second = cut(tensors, Chooser({}, None, {}).choose(tensors).choices)
    assert (first.name, second.name) == ("0.weight", "1.weight")
    assert first.layout is second.layout


def test_families_that_are_cut_alike_share_a_layout() -> None:
    """Layers have families of their own; what they are made of is compared by identity (spreading)."""
    families = [Family((16, 8), "column_parallel", BF16, at={0: at}) for at in (((4, 8),), ((4, 8, 0),), ((0, 4),))]
    tensors = [Tensor(f"{n}.weight", family) for n, family in enumerate(families)]
    first, same, other = cut(tensors, Chooser({}, None, {}).choose(tensors).choices)
    assert first.layout is same.layout
    assert first.layout != other.layout


def test_tensors_that_the_file_lacks_are_left_out() -> None:
    assert cut([weight()], {"up.weight": None}) == []


def test_a_part_of_a_repeated_concatenation_that_is_no_whole_units() -> None:
    tensor = Tensor(
        "qkv.weight", Family((24, 8), "channel_rows", BF16, at={0: ((0, 12),)}, formats=("block4",), nested={0: (8, 2)})
    )
    with pytest.raises(ShardError) as caught:
        cut([tensor], {"qkv.weight": chosen(tensor, FORMATS)})
    text = "qkv.weight_scale_inv: a part of 2 is not a multiple of 4: a unit would span two parts"
    assert caught.value.findings == (("SHD213", text),)


def test_every_part_that_cannot_be_cut_is_found() -> None:
    tensors = [
        Tensor("a.weight", Family((16, 8), "column_parallel", BF16, at={0: ((0, 6),)}, formats=("block4",))),
        Tensor("b.weight", Family((16, 9), "column_parallel", BF16, formats=("packed",))),
        Tensor("c.weight", Family((16, 8), "column_parallel", BF16, at={0: ((0, 6),)}, formats=("block4",))),
    ]
    with pytest.raises(ShardError) as caught:
        cut(tensors, {tensor.name: chosen(tensor, FORMATS) for tensor in tensors})
    assert caught.value.findings == (
        ("SHD212", "a.weight_scale_inv: dim 0 cut at 6, inside a unit of 4"),
        ("SHD213", "b.weight: 9 is not a multiple of 2"),
        ("SHD213", "b.weight_scale: 9 is not a multiple of 8"),
        ("SHD212", "c.weight_scale_inv: dim 0 cut at 6, inside a unit of 4"),
    )
