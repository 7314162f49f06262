"""One HTML file that needs no other: styles, scripts and data inside it, and a policy that forbids everything else.

Texts of a spec are never markup: data goes in as escaped JSON, words through Jinja's escaping, and the scripts put
text into the page as text. The policy names the page's one script by its digest, so no other would run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from shardc.diagnostics.visible import visible

_ASSETS = Path(__file__).parent / "assets"
#: Characters that end a script or open a tag. Those beyond ASCII, line separators among them, are escaped by `json`.
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def page(
    template: str, scripts: Sequence[str], styles: Sequence[str], data: object, words: Mapping[str, object]
) -> str:
    """The text of the page. `scripts` run in this order, in one scope of their own; `words` are for the template."""
    script = '(() => {\n"use strict";\n' + "\n".join(_read("js", f"{name}.js") for name in scripts) + "})();\n"
    style = "\n".join(_read("css", f"{name}.css") for name in styles)
    allowed = f"script-src '{_digest(script)}'; style-src '{_digest(style)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    inside = {"policy": policy, "script": script, "style": style, "data": in_html(_shown(data))}
    return _templates().get_template(template).render(words, **{name: Markup(text) for name, text in inside.items()})


def in_html(data: object) -> str:
    """JSON that can stand in an HTML script element, whatever strings it has."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPED)


def _shown(value: object) -> object:
    """The same with every text made visible: no control characters, and none that turn the direction of a line."""
    match value:
        case str():
            return value if value.isascii() and value.isprintable() else visible(value)
        case Mapping():
            return {key: _shown(one) for key, one in value.items()}
        case list() | tuple():
            return [_shown(one) for one in value]
    return value


def _word(value: object) -> object:
    """What a template writes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _read(folder: str, name: str) -> str:
    return (_ASSETS / folder / name).read_text(encoding="utf-8")


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        keep_trailing_newline=True,
        finalize=_word,
    )
