"""Traits: answers of participants about themselves, which rules turn into the name of their stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studies.settings import StratumRule

NOT_GIVEN = "not given"
UNSTRATIFIED = "all"
BETWEEN = ", "  # between the parts of a stratum's name


def stratum_of(answers: Mapping[str, Any], rules: Sequence[StratumRule]) -> str:
    """Return the stratum of a participant with these answers.

    The result is the names of the groups and bands, one for each rule, joined by commas; "all" without rules.

    Examples
    --------
    >>> from studies.settings import StratumGroup
    >>> women = StratumGroup(name="women", values=("woman",))
    >>> by_gender = StratumRule(question="gender", groups=(women,))
    >>> stratum_of({"gender": "woman", "age": 35}, [by_gender, StratumRule(question="age", bands=((20, 34), (35, 50)))])
    'women, 35-50'
    """
    return BETWEEN.join(_part(answers.get(rule.question), rule) for rule in rules) or UNSTRATIFIED


def _part(value: Any, rule: StratumRule) -> str:
    if rule.bands is None:
        return next((group.name for group in rule.groups or () if value in group.values), rule.rest)
    if value is None:
        return NOT_GIVEN
    low, high = next((band for band in reversed(rule.bands) if value >= band[0]), rule.bands[0])
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
