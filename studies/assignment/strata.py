"""Strata: groups of participants by their traits, within which conditions are kept even."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from core.errors import ParameterError
from studies.assignment.traits import BETWEEN, EVERYBODY, NOT_GIVEN, Rule, levels_of, stratum_of, traits_of


@dataclass(frozen=True)
class Strata:
    """A study's strata, with what is expected of them.

    Parameters
    ----------
    rules : sequence of mapping
        As in `traits.stratum_of`.
    shares : mapping of str to mapping of str to float
        For each question, the expected share of participants at each level. They are taken in proportion; a
        question without any has equal shares.
    merge_below : float
        Strata expected to hold less than this share of all participants are merged; 0 merges none.

    Raises
    ------
    ParameterError
        A rule that cannot be used, a name with a comma or used twice, a share that is negative, a level that no
        rule has, or shares of one question that are all 0.
    """

    rules: Sequence[Rule]
    shares: Mapping[str, Mapping[str, float]]
    merge_below: float = 0.0

    def __post_init__(self) -> None:
        stratum_of({}, self.rules)
        if not _is_number(self.merge_below) or not 0.0 <= self.merge_below <= 0.5:
            raise ParameterError(f"Strata are merged below a share from 0 to .5; got {self.merge_below!r}.")
        asked = [str(rule.get("question")) for rule in self.rules]
        if len(asked) != len(set(asked)):
            raise ParameterError(f"Each question makes strata once; got {', '.join(asked)}.")
        for rule in self.rules:
            levels = levels_of(rule)
            if len(levels) != len(set(levels)) or any(not level or "," in level for level in levels):
                raise ParameterError(
                    f"The strata by {rule['question']!r} need different names without commas; got {list(levels)}."
                )
            self._check_shares(str(rule["question"]), levels)
        for question in self.shares:
            if question not in asked:
                raise ParameterError(f"Shares are expected of {question!r}, by which there are no strata.")

    def _check_shares(self, question: str, levels: tuple[str, ...]) -> None:
        given = self.shares.get(question, {})
        unknown = sorted(set(given) - set(levels))
        if unknown:
            raise ParameterError(f"There is no stratum {unknown[0]!r} by {question!r}; there are {', '.join(levels)}.")
        if any(not _is_number(share) or not 0.0 <= share < math.inf for share in given.values()):
            raise ParameterError(f"Expected shares by {question!r} are numbers from 0; got {dict(given)}.")
        if given and not sum(given.values()) > 0:
            raise ParameterError(f"Expected shares by {question!r} cannot all be 0.")

    def of(self, answers: Mapping[str, Any], *, is_merged: bool = True) -> str:
        """The stratum of someone who gave these answers.

        Parameters
        ----------
        answers : mapping
            Question key to value.
        is_merged : bool
            Whether sparse strata go by the name of those they are merged with.

        Returns
        -------
        str
        """
        name = stratum_of(answers, self.rules)
        return self.merged().get(name, name) if is_merged else name

    def expected(self) -> dict[str, float]:
        """The share of participants that each unmerged stratum is expected to hold, as if fields were independent.

        Returns
        -------
        dict of str to float
            They add up to 1.

        Examples
        --------
        >>> Strata([{"question": "age", "bands": [[20, 34], [35, 50]]}], {"age": {"20-34": 3, "35-50": 1}}).expected()
        {'20-34': 0.75, '35-50': 0.25}
        """
        parts = []
        for rule in self.rules:
            levels = levels_of(rule)
            given = self.shares.get(str(rule["question"])) or dict.fromkeys(levels, 1.0)
            total = sum(given.values())
            parts.append([(level, given.get(level, 0.0) / total) for level in levels])
        if not parts:
            return {EVERYBODY: 1.0}
        return {
            BETWEEN.join(level for level, _share in chosen): math.prod(share for _level, share in chosen)
            for chosen in product(*parts)
        }

    def merged(self) -> dict[str, str]:
        """The names that sparse strata go by, and those they are merged with.

        While the least frequent stratum is below the limit, it is joined with the least frequent one of those
        that share most of their leading fields with it. The joined stratum bears the name of its first member
        and how many more there are. Strata that the design does not plan for, such as a number not given, stay.

        Returns
        -------
        dict of str to str
            Unmerged name to merged name, for those that are merged.

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

        def in_common(one: list[str], other: list[str]) -> int:
            return min(_leading(traits_of(a), traits_of(b)) for a in one for b in other)

        while len(groups) > 1:
            # A rounding error must not tell two equal shares apart: that would be another design.
            least = min(groups, key=lambda group: (round(share(group), 9), order.index(group[0])))
            if share(least) >= self.merge_below - 1e-9:
                break
            others = [group for group in groups if group is not least]
            mate = min(others, key=lambda g: (-in_common(least, g), round(share(g), 9), order.index(g[0])))
            both = sorted([*least, *mate], key=order.index)
            groups = [group for group in groups if group is not least and group is not mate] + [both]
        return {name: f"{g[0]} and {len(g) - 1} more" for g in groups if len(g) > 1 for name in g}

    def longest_name(self) -> str:
        """The longest name that a stratum can have, a number not given and merged ones included.

        Returns
        -------
        str

        Examples
        --------
        >>> Strata([{"question": "age", "bands": [[20, 34], [35, 50]]}], {}).longest_name()
        'not given'
        """
        parts = [[*levels_of(rule), *([NOT_GIVEN] if "bands" in rule else [])] for rule in self.rules]
        unmerged = BETWEEN.join(max(levels, key=len) for levels in parts)
        return max([unmerged, *self.merged().values()], key=len)

    def expected_merged(self) -> dict[str, float]:
        """The share of participants that each stratum is expected to hold once sparse ones are merged.

        Returns
        -------
        dict of str to float
        """
        names = self.merged()
        found: dict[str, float] = {}
        for name, share in self.expected().items():
            merged = names.get(name, name)
            found[merged] = found.get(merged, 0.0) + share
        return found


def strata_from(settings: Mapping[str, Any]) -> Strata:
    """Read the strata from a study's settings.

    Parameters
    ----------
    settings : mapping
        ``strata``, ``expected_shares``, ``merge_below``; each may be missing.

    Returns
    -------
    Strata

    Raises
    ------
    ParameterError
        As `Strata`.

    Examples
    --------
    >>> strata_from({}).of({"gender": "woman"})
    'all'
    """
    return Strata(
        settings.get("strata") or (), settings.get("expected_shares") or {}, settings.get("merge_below") or 0.0
    )


def _leading(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
