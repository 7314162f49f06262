"""The codes of all findings. A code is never reused; its long text is in `shardc/rules/`."""

from __future__ import annotations

NAMES: dict[str, str] = {
    # 0xx: the YAML text
    "SHD001": "yaml-syntax",
    "SHD002": "duplicate-key",
    "SHD003": "yaml-feature",
    "SHD004": "yaml-surprise",
    "SHD005": "too-large",
    # 1xx: names and structure
    "SHD101": "bad-field",
    "SHD102": "unknown-field",
    "SHD103": "unknown-name",
    "SHD104": "formula-syntax",
    "SHD105": "claimed-twice",
    "SHD106": "unknown-choice",
    "SHD107": "cycle",
    "SHD108": "config-key-missing",
    "SHD109": "config-conflict",
    "SHD110": "not-exact",
    "SHD111": "unused",
    "SHD112": "bad-value",
    "SHD113": "no-checkpoint",
    # 2xx: shapes, kinds and splits
    "SHD201": "indivisible-axis",
    "SHD203": "axis-arithmetic",
    "SHD204": "not-within",
    "SHD205": "mesh-dim-twice",
    "SHD206": "summed-twice",
    "SHD207": "added-on-each-rank",
    "SHD208": "bias-apart",
    "SHD210": "kind-disagrees",
    "SHD211": "kind-too-general",
    "SHD212": "cut-inside-unit",
    "SHD213": "ragged-unit",
    "SHD220": "valid-size-not-claimed",
    "SHD230": "output",
    # 3xx: contracts
    "SHD301": "contract",
    # 4xx: checkpoints
    "SHD401": "missing-tensor",
    "SHD402": "unexpected-tensor",
    "SHD403": "shape",
    "SHD404": "dtype",
    "SHD405": "format",
    "SHD406": "broken-file",
    "SHD407": "index",
    "SHD409": "no-spec",
    "SHD410": "rank",
    "SHD411": "tied-but-present",
    "SHD412": "already-cut",
    "SHD413": "shadowed",
    "SHD414": "out-of-scope",
    "SHD420": "mixed-output",
    "SHD430": "no-placement",
    # 5xx: the generated tree
    "SHD501": "out-of-date",
    "SHD502": "not-built",
    "SHD503": "orphan",
    "SHD504": "not-generated",
    # 6xx: what a change of specs does
    "SHD601": "layout",
    "SHD602": "widens",
    "SHD603": "narrows",
    "SHD604": "coverage",
    "SHD605": "equal",
    "SHD606": "cosmetic",
    "SHD607": "collectives",
    # 7xx: what the ranks compute
    "SHD701": "numbers-differ",
    "SHD702": "rank-failed",
    # 9xx: bugs of shardc
    "SHD901": "proof-failed",
}
