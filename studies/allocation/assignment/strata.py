"""Strata: groups of participants with the same traits, within which the conditions are balanced.

Traits are answers of participants about themselves, which rules turn into the name of their stratum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from studies.settings import StratumRule, StudySettings

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
    # Values outside all bands belong to the nearest end: screening decides who is admitted, strata only balance.
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


@dataclass(frozen=True)
class Strata:
    """A study's strata and their expected shares."""

    rules: Sequence[StratumRule]
    # For each question, the expected share of participants at each level, normalised to sum to 1. Without shares, the
    # levels of a question are equally likely.
    shares: Mapping[str, Mapping[str, float]]
    merge_below: float = 0.0  # strata with a smaller expected share of all participants are merged; 0 merges none

    def of(self, answers: Mapping[str, Any], *, is_merged: bool = True) -> str:
        name = stratum_of(answers, self.rules)
        return self.merged().get(name, name) if is_merged else name

    def expected(self) -> dict[str, float]:
        """Return the expected share of each unmerged stratum, assuming independent traits.

        Examples
        --------
        >>> by_age = StratumRule(question="age", bands=((20, 34), (35, 50)))
        >>> Strata([by_age], {"age": {"20-34": 3, "35-50": 1}}).expected()
        {'20-34': 0.75, '35-50': 0.25}
        """
        parts = []
        for rule in self.rules:
            # Equal levels are the assumption that favours no stratum where a researcher states none.
            shares = self.shares.get(rule.question) or dict.fromkeys(rule.levels, 1.0)
            total = sum(shares.values())
            parts.append([(level, shares.get(level, 0.0) / total) for level in rule.levels])
        if not parts:
            return {UNSTRATIFIED: 1.0}
        return {
            BETWEEN.join(level for level, _share in chosen): math.prod(share for _level, share in chosen)
            for chosen in product(*parts)
        }

    def merged(self) -> dict[str, str]:
        """Return the merged name of each merged stratum.

        While the least frequent stratum is below the limit, it is merged with the least frequent of the strata that
        share the most leading traits with it. The merged stratum is named after its first member and the number of
        other members. Strata outside the design, such as those with a number not given, are never merged. The result
        maps unmerged to merged names.

        Examples
        --------
        >>> from studies.settings import StratumGroup
        >>> women = StratumGroup(name="women", values=("woman",))
        >>> by_gender = StratumRule(question="gender", groups=(women,), rest="others")
        >>> by_age = StratumRule(question="age", bands=((20, 34), (35, 50)))
        >>> Strata([by_gender, by_age], {"gender": {"women": 94, "others": 6}}, merge_below=0.05).merged()
        {'others, 20-34': 'others, 20-34 and 1 more', 'others, 35-50': 'others, 20-34 and 1 more'}
        """
        share_of = self.expected()
        order = list(share_of)
        groups = [[name] for name in order]
        if not self.merge_below:
            return {}

        def share(group: list[str]) -> float:
            return sum(share_of[name] for name in group)

        def in_common(left: list[str], right: list[str]) -> int:
            return min(_n_shared(traits_of(a), traits_of(b)) for a in left for b in right)

        while len(groups) > 1:
            # Rounding keeps equal shares equal: a floating-point error must not change the design.
            least = min(groups, key=lambda group: (round(share(group), 9), order.index(group[0])))
            # A share that equals the limit on paper must not be merged because of its last bits.
            if share(least) >= self.merge_below - 1e-9:
                break
            candidates = [group for group in groups if group is not least]
            mate = min(candidates, key=lambda g: (-in_common(least, g), round(share(g), 9), order.index(g[0])))
            both = sorted([*least, *mate], key=order.index)
            groups = [group for group in groups if group is not least and group is not mate] + [both]
        return {name: f"{g[0]} and {len(g) - 1} more" for g in groups if len(g) > 1 for name in g}

    def longest_name(self) -> str:
        """Return the longest possible name of a stratum, including "not given" and merged names.

        Examples
        --------
        >>> Strata([StratumRule(question="age", bands=((20, 34), (35, 50)))], {}).longest_name()
        'not given'
        """
        parts = [[*rule.levels, *([] if rule.bands is None else [NOT_GIVEN])] for rule in self.rules]
        unmerged = BETWEEN.join(max(levels, key=len) for levels in parts)
        return max([unmerged, *self.merged().values()], key=len)

    def expected_merged(self) -> dict[str, float]:
        names = self.merged()
        totals: dict[str, float] = {}
        for name, share in self.expected().items():
            merged = names.get(name, name)
            totals[merged] = totals.get(merged, 0.0) + share
        return totals


def strata_from(design: StudySettings) -> Strata:
    """Return a study's strata.

    Examples
    --------
    >>> strata_from(StudySettings()).of({"gender": "woman"})
    'all'
    """
    return Strata(design.strata, design.expected_shares, design.merge_below)


def _n_shared(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=True)) if a != b), len(left))
