"""Every method by name."""

from __future__ import annotations

from bench.loading import distributed, libraries, limits, ours, safetensors_ways
from bench.loading.methods import Method

METHODS: dict[str, Method] = {
    method.name: method
    for module in (ours, limits, safetensors_ways, libraries, distributed)
    for method in module.METHODS
}
