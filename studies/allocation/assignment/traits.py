"""Traits: answers of participants about themselves, which rules turn into the name of their stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ParameterError

NOT_GIVEN = "not given"
REST = "all others"
UNSTRATIFIED = "all"
BETWEEN = ", "  # between the parts of a stratum's name

Rule = Mapping[str, Any]


def stratum_of(answers: Mapping[str, Any], rules: Sequence[Rule]) -> str:
    """Return the stratum of a participant with these answers.

    There is one rule per trait. For words: ``{"question", "groups": [{"name", "values"}], "rest"}``; values outside
    every group belong to the rest. For whole numbers: ``{"question", "bands": [[low, high], …]}`` in ascending order,
    both ends included; a number outside every band belongs to the band below it, or to the first. The result is the
    names of the groups and bands, joined by commas; "all" without rules. Raises ParameterError when a rule has neither
    groups nor bands, or its bands are not in ascending order.

    Examples
    --------
    >>> women = {"name": "women", "values": ["woman"]}
    >>> by_gender = {"question": "gender", "groups": [women], "rest": "all others"}
    >>> rules = [by_gender, {"question": "age", "bands": [[20, 34], [35, 50]]}]
    >>> stratum_of({"gender": "woman", "age": 35}, rules)
    'women, 35-50'
    """
    return BETWEEN.join(_part(answers.get(rule.get("question", "")), rule) for rule in rules) or UNSTRATIFIED


def _part(value: Any, rule: Rule) -> str:
    if "groups" in rule:
        for group in rule["groups"]:
            if value in group["values"]:
                return str(group["name"])
        return str(rule.get("rest", REST))
    bands = rule.get("bands")
    if not bands:
        raise ParameterError(f"The stratum by {rule.get('question')!r} has neither groups nor bands.")
    ends = [end for band in bands for end in band]
    if ends != sorted(ends):
        raise ParameterError(f"The bands of the stratum by {rule.get('question')!r} do not rise: {bands}.")
    if value is None:
        return NOT_GIVEN
    low, high = next((band for band in reversed(bands) if value >= band[0]), bands[0])
    return f"{low}-{high}"


def with_interviewer(stratum: str, number: int) -> str:
    """Return the stratum of a participant in an interview: the interviewer is an additional trait.

    Interviewers of a study are numbered from 1.

    Examples
    --------
    >>> with_interviewer("women, 20-34", 3)
    'women, 20-34, interviewer 3'
    """
    return f"{stratum}{BETWEEN}interviewer {number}"


def levels_of(rule: Rule) -> tuple[str, ...]:
    """Return the names of a rule's groups or bands, in order.

    "Not given" is left out, as it is not part of a design.

    Examples
    --------
    >>> levels_of({"question": "age", "bands": [[20, 34], [35, 50]]})
    ('20-34', '35-50')
    """
    if "groups" in rule:
        return (*(str(group["name"]) for group in rule["groups"]), str(rule.get("rest", REST)))
    return tuple(f"{low}-{high}" for low, high in rule["bands"])


def traits_of(stratum: str) -> tuple[str, ...]:
    """Split an unmerged stratum's name into its traits, one for each rule.

    Examples
    --------
    >>> traits_of("women, 35-50")
    ('women', '35-50')
    """
    return tuple(stratum.split(BETWEEN))


def margins_of(stratum: str, counts: Mapping[tuple[str, int], int], n_conditions: int) -> list[list[int]]:
    """Count the participants of each condition who share a trait with a newcomer, one row per trait, then all.

    `counts` are slots held, by stratum and index of the condition. The result has shape (n_traits + 1, n_conditions).

    Examples
    --------
    >>> margins_of("women, 35-50", {("women, 20-34", 0): 2, ("men, 35-50", 1): 1}, 2)
    [[2, 0], [0, 1], [2, 1]]
    """
    traits = traits_of(stratum)
    rows = [[0] * n_conditions for _ in range(len(traits) + 1)]
    for (name, condition), n in counts.items():
        for position, trait in enumerate(traits_of(name)):
            if position < len(traits) and trait == traits[position]:
                rows[position][condition] += n
        rows[-1][condition] += n
    return rows
