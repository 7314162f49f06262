import pytest

from shardc.runtime import MeshDim, ShardError, contract


def test_a_contract_that_holds() -> None:
    contract("causal_conv1d_l2norm", "channels % 256 == 0", True, {"channels": 512}, MeshDim("tp", 3, 8))


def test_a_contract_that_does_not() -> None:
    with pytest.raises(ShardError) as caught:
        contract("conv", "channels % 256 == 0", False, {"channels": 192, "width": 4}, MeshDim("tp", 3, 8))
    assert str(caught.value) == ("SHD301: conv needs channels % 256 == 0: channels = 192, width = 4 on tp rank 3 of 8")


def test_a_contract_over_two_mesh_dims() -> None:
    with pytest.raises(ShardError) as caught:
        contract("conv", "channels % 256 == 0", False, {"channels": 192}, MeshDim("tp", 3, 8), MeshDim("ep", 0, 2))
    assert (
        str(caught.value) == "SHD301: conv needs channels % 256 == 0: channels = 192 on tp rank 3 of 8, ep rank 0 of 2"
    )


def test_no_kernel_runs_on_the_whole_file() -> None:
    contract("conv", "channels <= 256", False, {"channels": 512}, MeshDim("tp", 0, 1, whole_file=True))
