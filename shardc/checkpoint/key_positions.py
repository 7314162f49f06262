"""Where a key is in JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_TOKEN = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?|[{}\[\]]', re.DOTALL)


def find_key(text: str, keys: Sequence[str]) -> int | None:
    """Offset of the last of `keys`, each looked up in the object that the one before it names; None if not there.

    The text is JSON that parses: an object, in which `keys[0]` is looked up.
    """
    depth = found = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("{", "["):
            depth += 1
        elif token[0] in ("}", "]"):
            depth -= 1
        elif token["colon"] and depth == found + 1 and _decoded(token["string"]) == keys[found]:
            found += 1
            if found == len(keys):
                return token.start()
        elif token["colon"] and depth == found:
            return None
    return None


def _decoded(string: str) -> str:
    """What a JSON string says."""
    return str(json.loads(string)) if "\\" in string else string[1:-1]
