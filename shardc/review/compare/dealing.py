"""What it means that an axis is dealt otherwise, where no mesh that was tried shows it."""

from __future__ import annotations

from shardc.layout.split import Dealing
from shardc.review.diff import Class


def classes_of_dealing(was: Dealing, is_: Dealing) -> list[Class]:
    """By the fields that differ: other sizes load, or the same sizes are dealt to other ranks."""
    out: list[Class] = []
    if was.if_uneven != is_.if_uneven:
        out += _refused(was.if_uneven, is_.if_uneven)
    if was.if_fewer != is_.if_fewer:
        out += _refused(was.if_fewer, is_.if_fewer)
    if was.granule != is_.granule:
        out += _granule(was, is_)
    if (was.pad_to, was.pad_local_to, was.placement) != (is_.pad_to, is_.pad_local_to, is_.placement):
        out.append("layout")
    if was.replicas != is_.replicas and "replicate" in (was.if_fewer, is_.if_fewer):
        out.append("layout")
    return out


def _refused(was: str, is_: str) -> list[Class]:
    """Of a field whose `error` refuses what its other values deal."""
    return ["widens"] if was == "error" else ["narrows"] if is_ == "error" else ["layout"]


def _granule(was: Dealing, is_: Dealing) -> list[Class]:
    """Equal shares of whole granules lie where they lay, whatever the granule."""
    strict = {"if_uneven": "error", "if_fewer": "error", "pad_to": None, "placement": "contiguous"}
    if any(getattr(how, name) != value for how in (was, is_) for name, value in strict.items()):
        return ["layout"]
    more: list[Class] = ["widens"] if was.granule % is_.granule == 0 else []
    less: list[Class] = ["narrows"] if is_.granule % was.granule == 0 else []
    return more + less or ["narrows", "widens"]
