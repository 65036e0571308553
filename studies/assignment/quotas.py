"""Quotas: at most so many participants of whom a rule about their answers is true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError


@dataclass(frozen=True)
class Quota:
    """At most so many participants whose answers meet every test.

    Parameters
    ----------
    name : str
        What the console calls it.
    most : int
        How many may hold a slot, >= 0.
    where : tuple of mapping
        Tests, all of which must be true: ``{"question", "values": [...]}`` where the answer is one of the
        values, or ``{"question", "band": [low, high]}`` where it is a number between them, both included.

    Raises
    ------
    ParameterError
        A number below 0, no test, or a test of neither kind.
    """

    name: str
    most: int
    where: tuple[Mapping[str, Any], ...]

    def __post_init__(self) -> None:
        most: Any = self.most  # from a design, which may hold anything
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ParameterError(f"The quota {self.name!r} is a whole number from 0; got {most!r}.")
        if not self.where:
            raise ParameterError(f"The quota {self.name!r} does not say whom it is about.")
        for test in self.where:
            band = test.get("band")
            has_band = isinstance(band, list | tuple) and len(band) == 2 and band[0] <= band[1]
            if not test.get("question") or has_band == bool(test.get("values")):
                raise ParameterError(
                    f"The quota {self.name!r} needs a question with values or a rising band; got {dict(test)}."
                )

    def counts(self, answers: Mapping[str, Any]) -> bool:
        """Whether someone with these answers counts in the quota.

        Parameters
        ----------
        answers : mapping
            Question key to value; a missing answer meets no test.

        Returns
        -------
        bool

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

    Parameters
    ----------
    settings : mapping
        ``quotas``: a list of ``{"name", "most", "where"}``; may be missing.

    Returns
    -------
    tuple of Quota

    Raises
    ------
    ParameterError
        As `Quota`, or two of one name.

    Examples
    --------
    >>> young = {"name": "young", "most": 9, "where": [{"question": "age", "band": [20, 29]}]}
    >>> quotas_from({"quotas": [young]})[0].most
    9
    """
    quotas = tuple(
        Quota(str(given.get("name", "")), given.get("most", -1), tuple(given.get("where") or ()))
        for given in settings.get("quotas") or ()
    )
    names = [quota.name for quota in quotas]
    if len(names) != len(set(names)):
        raise ParameterError(f"Two quotas have the same name; they are {', '.join(names)}.")
    return quotas


def held(quotas: Sequence[Quota], people: Iterable[Mapping[str, Any]]) -> list[int]:
    """How many of the people count in each quota.

    Parameters
    ----------
    quotas : sequence of Quota
        The quotas.
    people : iterable of mapping
        The answers of everybody who holds a slot.

    Returns
    -------
    list of int, length n_quotas
    """
    found = [0] * len(quotas)
    for answers in people:
        for position, quota in enumerate(quotas):
            found[position] += quota.counts(answers)
    return found


def most_let_in(quotas: Sequence[Quota], question: str, answers: Iterable[Any]) -> int | None:
    """How many participants the quotas by one question let in, where every answer to it has a quota.

    Parameters
    ----------
    quotas : sequence of Quota
        The quotas; those with other tests too are passed over.
    question : str
        Key of the question.
    answers : iterable of object
        Every answer with which someone may take part.

    Returns
    -------
    int or None
        The sum of the quotas, an upper bound; None where some answer has no quota.

    Examples
    --------
    >>> women = Quota("women", 20, ({"question": "gender", "values": ["woman"]},))
    >>> men = Quota("men", 10, ({"question": "gender", "values": ["man"]},))
    >>> most_let_in([women, men], "gender", ["woman", "man"]), most_let_in([women], "gender", ["woman", "man"])
    (30, None)
    """
    own = [quota for quota in quotas if {test["question"] for test in quota.where} == {question}]
    needed: set[int] = set()
    for answer in answers:
        found = [place for place, quota in enumerate(own) if quota.counts({question: answer})]
        if not found:
            return None
        needed.update(found)
    return sum(own[place].most for place in needed)


def first_full(
    quotas: Sequence[Quota], answers: Mapping[str, Any], people: Iterable[Mapping[str, Any]]
) -> Quota | None:
    """The first quota that keeps a newcomer out, or None.

    Parameters
    ----------
    quotas : sequence of Quota
        The quotas.
    answers : mapping
        The newcomer's.
    people : iterable of mapping
        The answers of everybody who holds a slot.

    Returns
    -------
    Quota or None

    Examples
    --------
    >>> women = Quota("women", 1, ({"question": "gender", "values": ["woman"]},))
    >>> first_full([women], {"gender": "woman"}, [{"gender": "woman"}]).name
    'women'
    """
    for quota, n in zip(quotas, held(quotas, people), strict=True):
        if quota.counts(answers) and n >= quota.most:
            return quota
    return None
