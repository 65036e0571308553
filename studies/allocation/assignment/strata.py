"""Strata: groups of participants with the same traits, within which the conditions are balanced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from core.errors import ParameterError
from studies.allocation.assignment.traits import (
    BETWEEN,
    NOT_GIVEN,
    UNSTRATIFIED,
    Rule,
    levels_of,
    stratum_of,
    traits_of,
)
from studies.instrument.questionnaires.conditions import is_number


@dataclass(frozen=True)
class Strata:
    """A study's strata and their expected shares.

    Raises ParameterError when a rule is invalid, a name contains a comma or is used twice, a share is negative or
    refers to an unknown level, or all shares of a question are 0.
    """

    rules: Sequence[Rule]  # as in `traits.stratum_of`
    # For each question, the expected share of participants at each level, normalised to sum to 1. Without shares, the
    # levels of a question are equally likely.
    shares: Mapping[str, Mapping[str, float]]
    merge_below: float = 0.0  # strata with a smaller expected share of all participants are merged; 0 merges none

    def __post_init__(self) -> None:
        stratum_of({}, self.rules)
        if not is_number(self.merge_below) or not 0.0 <= self.merge_below <= 0.5:
            raise ParameterError(f"Strata are merged below a share from 0 to .5; got {self.merge_below!r}.")
        questions = [str(rule.get("question")) for rule in self.rules]
        if len(questions) != len(set(questions)):
            raise ParameterError(f"Each question can define strata only once; got {', '.join(questions)}.")
        for rule in self.rules:
            levels = levels_of(rule)
            if len(levels) != len(set(levels)) or any(not level or "," in level for level in levels):
                raise ParameterError(
                    f"The strata by {rule['question']!r} need different names without commas; got {list(levels)}."
                )
            self._check_shares(str(rule["question"]), levels)
        for question in self.shares:
            if question not in questions:
                raise ParameterError(f"There are expected shares for {question!r}, which defines no strata.")

    def _check_shares(self, question: str, levels: tuple[str, ...]) -> None:
        shares = self.shares.get(question, {})
        unknown = sorted(set(shares) - set(levels))
        if unknown:
            raise ParameterError(f"There is no stratum {unknown[0]!r} by {question!r}; there are {', '.join(levels)}.")
        if any(not is_number(share) or not 0.0 <= share < math.inf for share in shares.values()):
            raise ParameterError(f"Expected shares by {question!r} are numbers from 0; got {dict(shares)}.")
        if shares and not sum(shares.values()) > 0:
            raise ParameterError(f"Expected shares by {question!r} cannot all be 0.")

    def of(self, answers: Mapping[str, Any], *, is_merged: bool = True) -> str:
        """Return the stratum of a participant with these answers."""
        name = stratum_of(answers, self.rules)
        return self.merged().get(name, name) if is_merged else name

    def expected(self) -> dict[str, float]:
        """Return the expected share of each unmerged stratum, assuming independent traits.

        Examples
        --------
        >>> Strata([{"question": "age", "bands": [[20, 34], [35, 50]]}], {"age": {"20-34": 3, "35-50": 1}}).expected()
        {'20-34': 0.75, '35-50': 0.25}
        """
        parts = []
        for rule in self.rules:
            levels = levels_of(rule)
            shares = self.shares.get(str(rule["question"])) or dict.fromkeys(levels, 1.0)
            total = sum(shares.values())
            parts.append([(level, shares.get(level, 0.0) / total) for level in levels])
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
        >>> by_gender = {"question": "gender", "groups": [{"name": "women", "values": ["woman"]}], "rest": "others"}
        >>> by_age = {"question": "age", "bands": [[20, 34], [35, 50]]}
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
        >>> Strata([{"question": "age", "bands": [[20, 34], [35, 50]]}], {}).longest_name()
        'not given'
        """
        parts = [[*levels_of(rule), *([NOT_GIVEN] if "bands" in rule else [])] for rule in self.rules]
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


def strata_from(settings: Mapping[str, Any]) -> Strata:
    """Read the strata from a study's settings.

    Reads ``strata``, ``expected_shares`` and ``merge_below``, all optional. Raises ParameterError as `Strata` does.

    Examples
    --------
    >>> strata_from({}).of({"gender": "woman"})
    'all'
    """
    return Strata(
        settings.get("strata") or (), settings.get("expected_shares") or {}, settings.get("merge_below") or 0.0
    )


def _n_shared(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """Return the number of leading traits that two strata share."""
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=True)) if a != b), len(left))
