"""The two-sided check of a plan for the whole file against the file's headers."""

from __future__ import annotations

import re
from fnmatch import translate

from shardc.runtime.choices import Headers
from shardc.runtime.collector import collector_at_rest
from shardc.runtime.cutting import laid_out
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.planning import Survey


@collector_at_rest()
def check_coverage(survey: Survey, headers: Headers, ignored: tuple[str, ...]) -> None:
    """Every tensor of the spec is in the file as it should be, and the file has no other.

    Raises, all together: SHD401 (missing), SHD402 (unexpected, and matched by no glob of `ignored`), SHD403 (shape),
    SHD404 (dtype), SHD105 (claimed twice) and SHD213 (no whole number of quantisation units).
    """
    findings = list(survey.findings)
    try:
        findings += shape_findings(survey)
    except ShardError as error:
        findings += error.findings
    findings += unexpected(survey, headers, ignored)
    if findings:
        raise ShardError(*findings)


def shape_findings(survey: Survey) -> list[Finding]:
    """SHD403 for every file tensor whose shape is not the spec's. Raises SHD212 and SHD213."""
    return [
        ("SHD403", f"{name}: shape {list(found or ())} in the file, {list(layout.shape)} by the spec")
        for choice, layouts in laid_out(survey.tensors, survey.choices)
        for name, layout, (_, _, found) in zip(choice.names, layouts, choice.way.parts, strict=True)
        if found != layout.shape
    ]


def unexpected(survey: Survey, headers: Headers, ignored: tuple[str, ...]) -> list[Finding]:
    """SHD402 for every file tensor that the spec neither claims nor ignores."""
    claimed = {name for choice in survey.choices.values() if choice for name in choice.names}
    if len(claimed) == len(headers):
        return []
    others = headers.keys() - claimed - survey.claimed
    ignore = re.compile("|".join(map(translate, ignored))).match if ignored else None
    return [
        ("SHD402", f"{name} is unexpected: no entry of the spec claims it")
        for name in headers
        if name in others and not (ignore and ignore(name))
    ]
