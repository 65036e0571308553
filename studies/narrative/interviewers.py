"""Sentences about interviewers, wherever a study is told of."""

from __future__ import annotations


def nested_sentence() -> str:
    """What nesting costs, for the console, the preregistration and the report.

    Returns
    -------
    str
        A paragraph.

    References
    ----------
    Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), "Looking for 'good' recommendations", section 3: a pair
    of interviewers for each algorithm.
    """
    return (
        "Interviewers are nested in conditions: each starts participants in one condition alone, as in the 2011 study. "
        "What an interviewer does and what a recommender does cannot be told apart then, and these participants are "
        "not assigned at random."
    )


def interviewed_sentence(n: int, interviewers: int, is_nested: bool) -> str:
    """How a report tells of interviewers.

    Parameters
    ----------
    n : int
        Participants whom an interviewer started.
    interviewers : int
        How many interviewers there were.
    is_nested : bool
        Whether each had one condition alone.

    Returns
    -------
    str

    Examples
    --------
    >>> interviewed_sentence(12, 2, False)[:56]
    '12 participants were started by interviewers, 2 in all. '
    """
    people = "1 participant was" if n == 1 else f"{n:,} participants were"
    how = nested_sentence() if is_nested else crossed_sentence()
    return f"{people} started by interviewers, {interviewers} in all. {how}"


def crossed_sentence() -> str:
    """How interviewers are handled by default.

    Returns
    -------
    str
    """
    return (
        "Where an interviewer starts the session, the interviewer is one more trait of the stratum, so that every "
        "interviewer meets every condition."
    )
