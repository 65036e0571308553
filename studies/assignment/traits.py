"""Traits: what participants said about themselves, as rules make it the name of their stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ParameterError

NOT_GIVEN = "not given"
REST = "all others"
EVERYBODY = "all"
BETWEEN = ", "  # between the parts of a stratum's name

Rule = Mapping[str, Any]


def stratum_of(answers: Mapping[str, Any], rules: Sequence[Rule]) -> str:
    """The stratum of someone who gave these answers.

    Parameters
    ----------
    answers : mapping
        Question key to value.
    rules : sequence of mapping
        One for each field: ``{"question", "groups": [{"name", "values"}], "rest"}`` for words, where values
        outside every group are merged into the rest; ``{"question", "bands": [[low, high], …]}`` for whole
        numbers, in rising order, both ends included, where a number outside every band counts with the band
        next below it, or with the first.

    Returns
    -------
    str
        Names of the groups and bands, joined by commas; "all" where there is no rule.

    Raises
    ------
    ParameterError
        A rule that has neither groups nor bands, or bands that do not rise.

    Examples
    --------
    >>> women = {"name": "women", "values": ["woman"]}
    >>> by_gender = {"question": "gender", "groups": [women], "rest": "all others"}
    >>> rules = [by_gender, {"question": "age", "bands": [[20, 34], [35, 50]]}]
    >>> stratum_of({"gender": "woman", "age": 35}, rules)
    'women, 35-50'
    """
    return BETWEEN.join(_part(answers.get(rule.get("question", "")), rule) for rule in rules) or EVERYBODY


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
    """The stratum of somebody whom an interviewer started: the interviewer is one more trait.

    Parameters
    ----------
    stratum : str
        As `stratum_of` makes it, or merged.
    number : int
        The interviewer's number in the study, from 1.

    Returns
    -------
    str

    Examples
    --------
    >>> with_interviewer("women, 20-34", 3)
    'women, 20-34, interviewer 3'
    """
    return f"{stratum}{BETWEEN}interviewer {number}"


def levels_of(rule: Rule) -> tuple[str, ...]:
    """The names that one rule can give, in its own order.

    Parameters
    ----------
    rule : mapping
        As in `stratum_of`.

    Returns
    -------
    tuple of str
        Without "not given", which a design does not plan for.

    Examples
    --------
    >>> levels_of({"question": "age", "bands": [[20, 34], [35, 50]]})
    ('20-34', '35-50')
    """
    if "groups" in rule:
        return (*(str(group["name"]) for group in rule["groups"]), str(rule.get("rest", REST)))
    return tuple(f"{low}-{high}" for low, high in rule["bands"])


def traits_of(stratum: str) -> tuple[str, ...]:
    """The parts of an unmerged stratum's name, one for each rule.

    Parameters
    ----------
    stratum : str
        As `stratum_of` makes it.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> traits_of("women, 35-50")
    ('women', '35-50')
    """
    return tuple(stratum.split(BETWEEN))


def margins_of(stratum: str, held: Mapping[tuple[str, int], int], n_conditions: int) -> list[list[int]]:
    """How many participants of each condition share a trait with a newcomer: a row a trait, and all in the last.

    Parameters
    ----------
    stratum : str
        The newcomer's.
    held : mapping of (str, int) to int
        Slots held, by stratum and index of the condition.
    n_conditions : int
        Number of conditions.

    Returns
    -------
    list of list of int, shape (n_traits + 1, n_conditions)

    Examples
    --------
    >>> margins_of("women, 35-50", {("women, 20-34", 0): 2, ("men, 35-50", 1): 1}, 2)
    [[2, 0], [0, 1], [2, 1]]
    """
    traits = traits_of(stratum)
    rows = [[0] * n_conditions for _ in range(len(traits) + 1)]
    for (name, condition), n in held.items():
        for position, trait in enumerate(traits_of(name)):
            if position < len(traits) and trait == traits[position]:
                rows[position][condition] += n
        rows[-1][condition] += n
    return rows
