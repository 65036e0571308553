"""Quotas: limits on the number of participants whose answers meet a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from studies.settings import Quota


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
    >>> from studies.settings import QuotaTest
    >>> women = Quota(name="women", most=20, where=(QuotaTest(question="gender", values=("woman",)),))
    >>> men = Quota(name="men", most=10, where=(QuotaTest(question="gender", values=("man",)),))
    >>> max_admitted([women, men], "gender", ["woman", "man"]), max_admitted([women], "gender", ["woman", "man"])
    (30, None)
    """
    own = [quota for quota in quotas if {test.question for test in quota.where} == {question}]
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
    >>> from studies.settings import QuotaTest
    >>> women = Quota(name="women", most=1, where=(QuotaTest(question="gender", values=("woman",)),))
    >>> first_full([women], {"gender": "woman"}, [{"gender": "woman"}]).name
    'women'
    """
    for quota, n in zip(quotas, count_by_quota(quotas, people), strict=True):
        if quota.counts(answers) and n >= quota.most:
            return quota
    return None
