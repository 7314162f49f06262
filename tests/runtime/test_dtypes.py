import pytest
import torch

from shardc.runtime.dtypes import FILE_DTYPES, TORCH_DTYPES, nbytes


@pytest.mark.parametrize(
    ("names", "size"),
    [
        (("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 1),
        (("I16", "U16", "F16", "BF16"), 2),
        (("I32", "U32", "F32"), 4),
        (("I64", "U64", "F64"), 8),
    ],
)
def test_bytes(names: tuple[str, ...], size: int) -> None:
    assert [nbytes(name, (3, 5)) for name in names] == [15 * size] * len(names)


def test_a_scalar_and_an_empty_tensor() -> None:
    assert nbytes("F32", ()) == 4
    assert nbytes("F32", (0, 128)) == 0


def test_every_dtype_has_one_name() -> None:
    assert len(TORCH_DTYPES) == 16
    assert FILE_DTYPES[torch.uint8] == "U8"
    assert all(TORCH_DTYPES[name] == dtype for dtype, name in FILE_DTYPES.items())
