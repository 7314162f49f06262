"""Mamba 2, Nemotron-H and Falcon-H1: state spaces."""

from __future__ import annotations

from shardc.prove.family import Family

FAMILIES: tuple[Family, ...] = ()
