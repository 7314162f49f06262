"""The two-sided check of a plan for the whole file against the file's headers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate

from shardc.runtime.choices import Headers
from shardc.runtime.cutting import cut
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.planning import Survey
from shardc.runtime.shards import Shard


def check_coverage(survey: Survey, headers: Headers, ignored: tuple[str, ...]) -> None:
    """Every tensor of the spec is in the file as it should be, and the file has no other.

    Raises, all together: SHD401 (missing), SHD402 (unexpected, and matched by no glob of `ignored`), SHD403 (shape),
    SHD404 (dtype), SHD105 (claimed twice) and SHD213 (no whole number of quantisation units).
    """
    findings = list(survey.findings)
    shards: list[Shard] = []
    try:
        shards = cut(survey.tensors, survey.choices)
    except ShardError as error:
        findings += error.findings
    findings += shape_findings(shards, headers)
    findings += unexpected(survey, headers, ignored)
    if findings:
        raise ShardError(*findings)


def shape_findings(shards: Iterable[Shard], headers: Headers) -> list[Finding]:
    """SHD403 for every file tensor whose shape is not the spec's."""
    return [
        ("SHD403", f"{shard.name}: shape {list(found)} in the file, {list(shard.shape)} by the spec")
        for shard in shards
        if (found := headers[shard.name].shape) != shard.shape
    ]


def unexpected(survey: Survey, headers: Headers, ignored: tuple[str, ...]) -> list[Finding]:
    """SHD402 for every file tensor that the spec neither claims nor ignores."""
    claimed = {stored.name for choice in survey.choices.values() if choice for stored in choice.stored}
    others = headers.keys() - claimed - survey.claimed
    ignore = re.compile("|".join(map(translate, ignored))).match if ignored else None
    return [
        ("SHD402", f"{name} is unexpected: no entry of the spec claims it")
        for name in headers
        if name in others and not (ignore and ignore(name))
    ]
