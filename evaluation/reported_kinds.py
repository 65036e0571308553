"""The metrics that a report tests, by protocol, with their names and directions."""

from __future__ import annotations

from collections.abc import Mapping

RATING_PREDICTION = "rating-prediction"
HITS = ("recall", "fallout")
ERRORS = ("rmse", "mae")  # of predicted ratings
LOWER_IS_BETTER = frozenset({"fallout", *ERRORS})


def tested_kinds(protocol: Mapping[str, object]) -> tuple[str, ...]:
    """Return the metrics that a report on a run of this protocol tests, the main one first.

    Examples
    --------
    >>> tested_kinds({"name": "one-plus-random"}), tested_kinds({"name": "rating-prediction"})
    (('recall', 'fallout'), ('rmse', 'mae'))
    """
    return ERRORS if protocol["name"] == RATING_PREDICTION else HITS


def kind_word(kind: str) -> str:
    """Return the name of a metric within a sentence.

    Examples
    --------
    >>> kind_word("recall"), kind_word("rmse")
    ('recall', 'RMSE')
    """
    return kind.upper() if kind in ERRORS else kind


def kind_name(kind: str) -> str:
    """Return the name of a metric in a heading.

    Examples
    --------
    >>> kind_name("recall"), kind_name("mae")
    ('Recall', 'MAE')
    """
    return kind.upper() if kind in ERRORS else kind.capitalize()


def kind_at(kind: str, n: int) -> str:
    """Return the name in a heading with the list length, which errors of single ratings do not have.

    Examples
    --------
    >>> kind_at("recall", 5), kind_at("rmse", 5)
    ('Recall at 5', 'RMSE')
    """
    return kind_name(kind) if kind in ERRORS else f"{kind_name(kind)} at {n}"
