"""Sentences about interviewers, for the console, preregistrations and reports."""

from __future__ import annotations

CROSSED = (
    "In interview sessions, the interviewer is an additional stratification trait, which crosses interviewers with "
    "conditions."
)


def nested_sentence() -> str:
    """State the limitation of nested interviewers.

    Source: Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), "Looking for 'good' recommendations", section 3: a
    pair of interviewers for each algorithm.
    """
    return (
        "Interviewers are nested in conditions: each works in only one condition, as in the 2011 study. Effects of "
        "interviewers and recommenders are therefore confounded, and these participants are not randomly assigned."
    )


def interviewed_sentence(n: int, interviewers: int, is_nested: bool) -> str:
    """Describe the interviewers of a study, for a report.

    `n` participants had an interviewer; `is_nested` says whether interviewers were nested in conditions.

    Examples
    --------
    >>> interviewed_sentence(12, 2, False)[:56]
    '12 participants were started by interviewers, 2 in all. '
    """
    people = "1 participant was" if n == 1 else f"{n:,} participants were"
    how = nested_sentence() if is_nested else CROSSED
    return f"{people} started by interviewers, {interviewers} in all. {how}"
