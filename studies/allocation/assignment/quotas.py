"""Quotas: limits on the number of participants whose answers meet a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError


@dataclass(frozen=True)
class Quota:
    """A limit on the number of participants whose answers meet every test.

    Raises ParameterError when the maximum is below 0, there is no test, or a test is of neither kind.
    """

    name: str  # name shown in the console
    most: int  # maximum number of slots, at least 0
    # tests that must all hold: ``{"question", "values": [...]}`` when the answer is one of the values, or
    # ``{"question", "band": [low, high]}`` when it is a number in that range, both ends included
    where: tuple[Mapping[str, Any], ...]

    def __post_init__(self) -> None:
        most: Any = self.most  # unvalidated, from a design
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ParameterError(f"The quota {self.name!r} is a whole number from 0; got {most!r}.")
        if not self.where:
            raise ParameterError(f"The quota {self.name!r} has no rule. Add a question with its values or band.")
        for test in self.where:
            band = test.get("band")
            has_band = isinstance(band, list | tuple) and len(band) == 2 and band[0] <= band[1]
            if not test.get("question") or has_band == bool(test.get("values")):
                raise ParameterError(
                    f"The quota {self.name!r} needs a question with values or a rising band; got {dict(test)}."
                )

    def counts(self, answers: Mapping[str, Any]) -> bool:
        """Return whether a participant with these answers counts towards the quota.

        A missing answer meets no test.

        Examples
        --------
        >>> Quota("women", 105, ({"question": "gender", "values": ["woman"]},)).counts({"gender": "woman"})
        True
        """
        return all(_meets(answers.get(test["question"]), test) for test in self.where)


def _meets(value: Any, test: Mapping[str, Any]) -> bool:
    if value is None:
        return False
    if "values" in test:
        return value in test["values"]
    low, high = test["band"]
    return not isinstance(value, bool) and isinstance(value, int) and low <= value <= high


def quotas_from(settings: Mapping[str, Any]) -> tuple[Quota, ...]:
    """Read the quotas from a study's settings.

    Reads ``quotas``, a list of ``{"name", "most", "where"}``. Raises ParameterError as `Quota` does, and when two
    quotas have the same name.

    Examples
    --------
    >>> young = {"name": "young", "most": 9, "where": [{"question": "age", "band": [20, 29]}]}
    >>> quotas_from({"quotas": [young]})[0].most
    9
    """
    quotas = tuple(
        Quota(str(entry.get("name", "")), entry.get("most", -1), tuple(entry.get("where") or ()))
        for entry in settings.get("quotas") or ()
    )
    names = [quota.name for quota in quotas]
    if len(names) != len(set(names)):
        raise ParameterError(f"Two quotas have the same name; they are {', '.join(names)}.")
    return quotas


def count_by_quota(quotas: Sequence[Quota], people: Iterable[Mapping[str, Any]]) -> list[int]:
    """Count the participants in each quota. `people` are the answers of each participant with a slot."""
    counts = [0] * len(quotas)
    for answers in people:
        for position, quota in enumerate(quotas):
            counts[position] += quota.counts(answers)
    return counts


def max_admitted(quotas: Sequence[Quota], question: str, answers: Iterable[Any]) -> int | None:
    """Return the number of participants that the quotas by one question admit, if every answer to it has a quota.

    It is an upper bound, the sum of the quotas; None when an answer has no quota. `answers` are those that admit a
    participant. Quotas with tests on other questions are ignored.

    Examples
    --------
    >>> women = Quota("women", 20, ({"question": "gender", "values": ["woman"]},))
    >>> men = Quota("men", 10, ({"question": "gender", "values": ["man"]},))
    >>> max_admitted([women, men], "gender", ["woman", "man"]), max_admitted([women], "gender", ["woman", "man"])
    (30, None)
    """
    own = [quota for quota in quotas if {test["question"] for test in quota.where} == {question}]
    needed: set[int] = set()
    for answer in answers:
        matches = [index for index, quota in enumerate(own) if quota.counts({question: answer})]
        if not matches:
            return None
        needed.update(matches)
    return sum(own[index].most for index in needed)


def first_full(
    quotas: Sequence[Quota], answers: Mapping[str, Any], people: Iterable[Mapping[str, Any]]
) -> Quota | None:
    """Return the first quota that is full for a newcomer, or None.

    `people` are the answers of each participant with a slot.

    Examples
    --------
    >>> women = Quota("women", 1, ({"question": "gender", "values": ["woman"]},))
    >>> first_full([women], {"gender": "woman"}, [{"gender": "woman"}]).name
    'women'
    """
    for quota, n in zip(quotas, count_by_quota(quotas, people), strict=True):
        if quota.counts(answers) and n >= quota.most:
            return quota
    return None
