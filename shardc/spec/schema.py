"""The JSON schema of spec files, for editors."""

from __future__ import annotations

import json

from shardc.spec.model import Spec


def schema() -> str:
    """schema/spec.v1.json: the model's fields with their descriptions and examples, as they are spelt in YAML."""
    data = Spec.model_json_schema(by_alias=True)
    data = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "spec.v1.json",
        **data,
        "title": "shardc spec",
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
