"""Sentences on the analysed participants."""

from __future__ import annotations

import math

from analysis.results.sample import Conduct, Sample
from documents.numbers import capital, minutes, number, plural
from inference.balance import LargestDifference

SMALL = 5  # fewer participants with one answer in one condition may be recognisable


def analysed(sample: Sample, noun: str) -> str:
    """The number of participants, and every number that they were asked for."""
    sizes = sorted(group.n for group in sample.by_condition)
    each = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    sentences = [f"{capital(plural(sample.total.n, noun))} were analysed, {each} in each condition."]
    for characteristic in sample.characteristics:
        total = characteristic.total
        if (summary := total.number) is None:
            continue
        sd = "" if summary.sd is None else f", SD = {number(summary.sd)}"
        sentences.append(
            f"“{characteristic.question}”: M = {number(summary.mean)}{sd}, range {summary.minimum:,g} to "
            f"{summary.maximum:,g} (n = {total.n:,})."
        )
    if sample.total.n == 1:
        sentences[0] = f"1 {noun} was analysed."
    return " ".join(sentences)


def small_cells(sample: Sample) -> str:
    """That small cells are shown; empty where there is none."""
    n = sum(
        0 < count < SMALL
        for characteristic in sample.characteristics
        for group in characteristic.by_condition
        for count in group.counts
    )
    if not n:
        return ""
    verb = "is" if n == 1 else "are"
    return (
        f"{plural(n, 'cell')} of this table {verb} of fewer than five participants. No cell is suppressed: before you "
        "publish the table, check that nobody can be recognised by it."
    )


def balance(sample: Sample) -> str:
    """The largest standardised difference between two conditions, and what chance alone would give."""
    known = [
        (characteristic.balance, characteristic.question)
        for characteristic in sample.characteristics
        if isinstance(characteristic.balance, LargestDifference)
    ]
    if not known:
        return ""
    largest, question = max(known, key=lambda entry: entry[0].difference)
    if largest.difference == 0:
        return "The conditions do not differ in any of these answers."
    smallest = min(group.n for group in sample.by_condition if group.n)
    return (
        f"The largest standardised difference between two conditions is {number(largest.difference)} "
        f"(“{question}”, {largest.a} and {largest.b}). It is not tested: under random assignment, differences are due "
        "to chance, and losses after it can add to them. With "
        f"{plural(smallest, 'participant')} in each of two conditions, the standard error of a standardised difference "
        f"of means is about {number(math.sqrt(2 / smallest))}; the largest of many pairs, and differences over many "
        "answers, are larger by chance."
    )


def duration(conduct: Conduct) -> str:
    """The median time with its range."""
    seconds = conduct.seconds
    if seconds is None:
        return ""
    times = (seconds.median, seconds.minimum, seconds.maximum)
    if seconds.maximum < 59.5:
        (median, low, high), unit = (f"{time:.0f}" for time in times), "s"
    else:
        (median, low, high), unit = map(minutes, times), "min"
    return f"From consent to the end, participation took a median of {median} {unit} (range {low} to {high})."


def opened(conduct: Conduct, noun: str, *, has_trailers: bool) -> str:
    """How often details and trailers were opened, and by how many."""
    times = _times(conduct.details_opened, conduct.opened_details, noun)
    sentence = f"Details of recommended items were opened {times}"
    if not has_trailers:
        return f"{sentence}."
    return f"{sentence}, and trailers {_times(conduct.trailers_opened, conduct.opened_trailers, noun)}."


def _times(n: int, people: int, noun: str) -> str:
    if not n:
        return "never"
    return f"{plural(n, 'time')} by {plural(people, noun)}"


def comments(sample: Sample, noun: str) -> str:
    """How many wrote a comment; reports hold the number alone."""
    if not sample.asks_comments:
        return ""
    if not sample.total.commented:
        return f"No {noun} wrote a comment."
    return (
        f"{plural(sample.total.commented, noun)} wrote a comment. Comments can identify people, so the report has only "
        "their number; members of the study read them on the report's page of comments."
    )
