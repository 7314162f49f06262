"""A checkpoint of many windows, and what its ranks get by slices alone."""

from collections.abc import Iterator, Mapping

import torch

import shardc.runtime as rt

from .tiny_model import arange

Tensors = dict[str, torch.Tensor]


def same(one: Tensors, other: Tensors) -> bool:
    """Same names in the same order, dtypes, shapes and bytes."""
    return list(one) == list(other) and all(
        (tensor.dtype, tensor.shape) == (other[name].dtype, other[name].shape)
        and torch.equal(
            tensor.contiguous().view(-1).view(torch.uint8), other[name].contiguous().view(-1).view(torch.uint8)
        )
        for name, tensor in one.items()
    )


def big_spec(form: str = "plain") -> rt.Spec:
    """Rows, columns, a copy for all, many small tensors; `fused`: rows interleaved, and experts stacked."""

    def tensors(config: object, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor | rt.Output]:
        heads, inter = rt.axis("heads", 4, mesh["tp"]), rt.axis("inter", 1000, mesh["tp"])
        rows = {0: ((heads.start * 1000, heads.stop * 1000),)}
        yield rt.Tensor("rows", rt.Family((4000, 1111), "channel_rows", ("F32",), at=rows))
        yield rt.Tensor("more_rows", rt.Family((4000, 1111), "channel_rows", ("F32",), at=rows))
        yield rt.Tensor(
            "cols", rt.Family((2500, 1000), "channel_cols", ("F32",), at={1: ((inter.start, inter.stop, 5),)})
        )
        yield rt.Tensor("all", rt.Family((3000, 700), "replicated", ("F32",)))
        yield rt.Tensor("bias", rt.Family((1000,), "rank0", ("F32",), at={0: rt.rank0(mesh["tp"], 1000)}))
        for expert in range(400):
            yield rt.Tensor(
                f"e.{expert}", rt.Family((8, 1000), "expert_slices", ("F32",), at={1: ((inter.start, inter.stop),)})
            )
            yield rt.Tensor(f"e.{expert}.scale", rt.Family((), "replicated", ("F32",)))
            if form == "fused":
                yield rt.Output("experts", (f"e.{expert}",), slice=(expert, 400))
                yield rt.Output("scales", (f"e.{expert}.scale",), slice=(expert, 400))
        if form == "fused":
            yield rt.Output("qk", ("rows", "more_rows"), by=(heads,))

    return rt.Spec(tensors, {}, (), ("tp",), ("F32",))


def big_tensors() -> Tensors:
    full = {
        "rows": arange(4000, 1111),
        "more_rows": -arange(4000, 1111),
        "cols": arange(2500, 1000) + 7,
        "all": arange(3000, 700) + 9,
        "bias": arange(1000),
    }
    for expert in range(400):
        full |= {f"e.{expert}": arange(8, 1000) + expert, f"e.{expert}.scale": torch.tensor(float(expert))}
    return full


TP4 = [rt.mesh(("tp",), extra={"tp": (rank, 4)}) for rank in range(4)]


def big_rank(rank: int, form: str = "plain") -> Tensors:
    """What a rank gets of it, by slices."""
    full = big_tensors()
    rows, cols = slice(1000 * rank, 1000 * rank + 1000), slice(250 * rank, 250 * rank + 250)
    own = {
        "rows": full["rows"][rows],
        "more_rows": full["more_rows"][rows],
        "cols": torch.cat([full["cols"][:, cols], torch.zeros(2500, 5)], 1),
        "all": full["all"],
        "bias": full["bias"] if rank == 0 else torch.zeros(1000),
    }
    if form == "fused":
        own = {"qk": torch.cat([own.pop("rows"), own.pop("more_rows")]), **own}
        own["experts"] = torch.stack([full[f"e.{expert}"][:, cols] for expert in range(400)])
        own["scales"] = torch.arange(400.0)
        return own
    for expert in range(400):
        own |= {f"e.{expert}": full[f"e.{expert}"][:, cols], f"e.{expert}.scale": full[f"e.{expert}.scale"]}
    return own
