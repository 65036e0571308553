"""Quotas in words, and targets as lines of text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.conditions import as_text

_TARGET = re.compile(r"^(.+?)\s*:\s*(\d{1,7})$")


def percentage(value: float) -> str:
    """Write a percentage with at most four decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def quotas_as_text(quotas: Sequence[Mapping[str, Any]]) -> str:
    """Write quotas, one per line.

    Examples
    --------
    >>> quotas_as_text([{"name": "women", "most": 105, "where": [{"question": "gender", "values": ["woman"]}]}])
    '105 women: gender = woman'
    """
    return "\n".join(
        f"{quota['most']}{'' if quota['name'] == tests_as_text(quota) else ' ' + quota['name']}: {tests_as_text(quota)}"
        for quota in quotas
    )


def tests_as_text(quota: Mapping[str, Any]) -> str:
    """Write the tests of a quota, which are also its name if it has no other."""
    tests = []
    for test in quota["where"]:
        if "band" in test:
            tests.append(f"{test['question']} = {test['band'][0]}-{test['band'][1]}")
        else:
            tests.append(f"{test['question']} = {', '.join(map(as_text, test['values']))}")
    return "; ".join(tests)


def targets_from_text(text: str, labels: Sequence[str]) -> dict[str, int]:
    """Parse the targets of single conditions, one per line, such as ``TopPop: 40``.

    Raises ParameterError when a line cannot be parsed or names an unknown condition; the message has its number.

    Examples
    --------
    >>> targets_from_text("TopPop: 40", ["TopPop", "LSA"])
    {'TopPop': 40}
    """
    targets = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        parts = _TARGET.match(line)
        if not line:
            continue
        if parts is None:
            raise ParameterError(f"Line {number} of the targets is not a condition, a colon and a number: {line!r}.")
        if parts[1] not in labels:
            raise ParameterError(
                f"Line {number} of the targets: there is no condition {parts[1]!r}; there are {', '.join(labels)}."
            )
        targets[parts[1]] = int(parts[2])
    return targets
