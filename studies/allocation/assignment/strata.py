"""Strata: groups of participants with the same traits, within which the conditions are balanced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from studies.allocation.assignment.traits import BETWEEN, NOT_GIVEN, UNSTRATIFIED, stratum_of, traits_of
from studies.settings import StratumRule, StudySettings


@dataclass(frozen=True)
class Strata:
    """A study's strata and their expected shares."""

    rules: Sequence[StratumRule]
    # For each question, the expected share of participants at each level, normalised to sum to 1. Without shares, the
    # levels of a question are equally likely.
    shares: Mapping[str, Mapping[str, float]]
    merge_below: float = 0.0  # strata with a smaller expected share of all participants are merged; 0 merges none

    def of(self, answers: Mapping[str, Any], *, is_merged: bool = True) -> str:
        """Return the stratum of a participant with these answers."""
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
        """Return the expected share of each stratum after merging."""
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
