"""Strata, quotas and targets as editable lines of text, for forms."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.conditions import as_text

_BAND = re.compile(r"(\d{1,6})\s*[-–]\s*(\d{1,6})")
_SHARE = re.compile(r"^(.*?)\s+(\d{1,3}(?:\.\d{1,4})?)\s*%$")
_QUOTA = re.compile(r"^(\d{1,7})(?:\s+([^:]+?))?\s*:\s*(.+)$")
_TARGET = re.compile(r"^(.+?)\s*:\s*(\d{1,7})$")
YES_NO = {"yes": True, "no": False}


def percentage(value: float) -> str:
    """Write a percentage with at most four decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _values(text: str, question: str, yes_no: Collection[str]) -> list[Any]:
    words = [word.strip() for word in text.split(",")]
    if question not in yes_no:
        return words
    return [YES_NO.get(word.lower(), word) for word in words]


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def strata_as_text(rules: Sequence[Mapping[str, Any]], shares: Mapping[str, Mapping[str, float]]) -> str:
    """Write strata and their expected shares, one question per line.

    Examples
    --------
    >>> strata_as_text([{"question": "age", "bands": [[20, 34], [35, 50]]}], {"age": {"20-34": 60, "35-50": 40}})
    'age: 20-34 60%; 35-50 40%'
    """
    lines = []
    for rule in rules:
        own = shares.get(rule["question"], {})
        if "groups" in rule:
            parts = [(g["name"], f"{g['name']} = {', '.join(map(as_text, g['values']))}") for g in rule["groups"]]
            parts.append((rule.get("rest", "all others"), rule.get("rest", "all others")))
        else:
            parts = [(f"{low}-{high}", f"{low}-{high}") for low, high in rule["bands"]]
        levels = [text + (f" {percentage(own[name])}%" if name in own else "") for name, text in parts]
        lines.append(f"{rule['question']}: {'; '.join(levels)}")
    return "\n".join(lines)


def strata_from_text(
    text: str, yes_no: Collection[str] = ()
) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """Parse strata and expected shares from text, as `strata_as_text` writes them.

    Each line has a question's key, a colon, then either bands such as ``20-34`` or groups such as ``women = woman``,
    separated by semicolons. A name without ``=`` covers all other answers. Each band or group may end in its expected
    share. `yes_no` are the keys of yes/no questions. Returns the rules, and the expected shares by question. Raises
    ParameterError when a line cannot be parsed; the message has its number.

    Examples
    --------
    >>> strata_from_text("gender: women = woman 48%; all others 52%")[1]
    {'gender': {'women': 48.0, 'all others': 52.0}}
    """
    rules: list[dict[str, Any]] = []
    shares: dict[str, dict[str, float]] = {}
    for number, line in _lines(text):
        question, colon, tail = (part.strip() for part in line.partition(":"))
        parts = [part.strip() for part in tail.split(";") if part.strip()]
        if not colon or not question or not parts:
            raise ParameterError(
                f"Line {number} of the strata is not a question, a colon, and its groups or bands: {line!r}."
            )
        groups: list[dict[str, Any]] = []
        bands: list[list[int]] = []
        rest = None
        own: dict[str, float] = {}
        for part in parts:
            with_share = _SHARE.match(part)
            body = with_share[1].strip() if with_share else part
            name, has_values, values = (piece.strip() for piece in body.partition("="))
            band = _BAND.fullmatch(body)
            if has_values:
                groups.append({"name": name, "values": _values(values, question, yes_no)})
            elif band:
                bands.append([int(band[1]), int(band[2])])
                name = f"{int(band[1])}-{int(band[2])}"
            elif rest is None:
                rest = name
            else:
                raise ParameterError(
                    f"Line {number} of the strata has two groups for all other answers: {rest}, {name}. Keep one."
                )
            if with_share:
                own[name] = float(with_share[2])
        if bool(bands) == bool(groups) or (bands and rest is not None):
            raise ParameterError(f"Line {number} of the strata needs either bands such as 20-34 or groups: {line!r}.")
        rules.append(
            {"question": question, "bands": bands}
            if bands
            else {"question": question, "groups": groups, "rest": rest or "all others"}
        )
        if own:
            shares[question] = own
    return rules, shares


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


def quotas_from_text(text: str, yes_no: Collection[str] = ()) -> list[dict[str, Any]]:
    """Parse quotas from text, as `quotas_as_text` writes them.

    Each line has the maximum, an optional name, a colon, then the tests that must all hold, separated by semicolons,
    such as ``gender = woman`` or ``age = 20-34``. `yes_no` are the keys of yes/no questions. Raises ParameterError when
    a line cannot be parsed; the message has its number.

    Examples
    --------
    >>> quotas_from_text("60: gender = woman; age = 20-34")[0]["name"]
    'gender = woman; age = 20-34'
    """
    quotas = []
    for number, line in _lines(text):
        match = _QUOTA.match(line)
        where: list[dict[str, Any]] = []
        for part in match[3].split(";") if match else ():
            question, equals, values = (piece.strip() for piece in part.partition("="))
            band = _BAND.fullmatch(values)
            if not equals or not question or not values:
                match = None
                break
            if band:
                where.append({"question": question, "band": [int(band[1]), int(band[2])]})
            else:
                where.append({"question": question, "values": _values(values, question, yes_no)})
        if match is None:
            raise ParameterError(
                f"Line {number} of the quotas is not a number, a colon and tests, such as 105: gender = woman; "
                f"it is {line!r}."
            )
        quota = {"most": int(match[1]), "where": where}
        quotas.append({"name": match[2] or tests_as_text(quota), **quota})
    return quotas


def targets_from_text(text: str, labels: Sequence[str]) -> dict[str, int]:
    """Parse the targets of single conditions, one per line, such as ``TopPop: 40``.

    Raises ParameterError when a line cannot be parsed or names an unknown condition; the message has its number.

    Examples
    --------
    >>> targets_from_text("TopPop: 40", ["TopPop", "LSA"])
    {'TopPop': 40}
    """
    targets = {}
    for number, line in _lines(text):
        parts = _TARGET.match(line)
        if parts is None:
            raise ParameterError(f"Line {number} of the targets is not a condition, a colon and a number: {line!r}.")
        if parts[1] not in labels:
            raise ParameterError(
                f"Line {number} of the targets: there is no condition {parts[1]!r}; there are {', '.join(labels)}."
            )
        targets[parts[1]] = int(parts[2])
    return targets
