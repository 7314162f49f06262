import pytest

from shardc.spec.dtypes import SIZES, nbytes


def test_sizes_in_bytes() -> None:
    by_size: dict[int, set[str]] = {}
    for dtype, size in SIZES.items():
        by_size.setdefault(size, set()).add(dtype)
    assert by_size == {
        1: {"BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"},
        2: {"I16", "U16", "F16", "BF16"},
        4: {"I32", "U32", "F32"},
        8: {"I64", "U64", "F64"},
    }


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [("BF16", (3, 4), 24), ("F64", (), 8), ("F32", (0, 5), 0), ("F8_E4M3", [7], 7)],
)
def test_nbytes(dtype: str, shape: tuple[int, ...], expected: int) -> None:
    assert nbytes(dtype, shape) == expected


def test_an_unknown_dtype_has_no_size() -> None:
    with pytest.raises(KeyError):
        nbytes("F4", (1,))
