"""Sentences about what a run measured."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from analysis.narrative.words import length_words, plural
from analysis.results.objective import FULL_RANKING, ObjectiveSide, ProfileLength
from analysis.tables.cells import listed, written
from evaluation.splitting.kinds import STRANGERS
from inference.results import Undefined

SAME_RECALL = 0.0005  # a smaller difference does not show in three digits


def best_and_worst(length: ProfileLength, n: int) -> str:
    """The range of recall, with the algorithms at its ends."""
    values, words = length.defined_values("recall"), length_words(length.profile_length)
    if not values:
        return f"There are no cases to measure recall on, {words}."
    highest, lowest = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
    means = ", the mean over users," if length.is_by_user else ""
    return (
        f"Recall at {n}{means} {words} ranges from {written(values[lowest], 3, True)} ({lowest}) to "
        f"{written(values[highest], 3, True)} ({highest})."
    )


def unmeasured_fallout(run: ObjectiveSide) -> str:
    """Why a run of whole lists has no fallout; empty for runs of single items.

    Examples
    --------
    >>> unmeasured_fallout(ObjectiveSide(n=5, protocol={"name": "one-plus-random"}, split={}, lengths=()))
    ''
    """
    if run.protocol["name"] != FULL_RANKING:
        return ""
    return (
        "Fallout has no value: full ranking makes one list per user and does not measure which disliked items reach it."
    )


def signs(length: ProfileLength, kind: str) -> str:
    """How many pairs of algorithms differ significantly over users."""
    tests = length.tests(kind)
    if isinstance(tests.sign_tests, Undefined):
        return f"There are no sign tests on {kind}. {tests.sign_tests.reason}"
    pairs = tests.sign_tests.pairs
    n = sum(pair.is_significant for pair in pairs)
    sentence = (
        f"Sign tests over users found significant differences in {kind} in {n} of {plural(len(pairs), 'pair')} after "
        "Holm's correction."
    )
    if tests.order.cycle:
        sentence += f" {listed(tests.order.cycle)} dominate each other in a cycle, which is possible with sign tests."
    return sentence


def served(length: ProfileLength) -> str:
    """Whether recall of the lists as served ranks the algorithms alike; empty where it was not measured."""
    as_served, values = length.served.get("recall"), length.defined_values("recall")
    if not as_served or len(values) < len(length.conditions):
        return ""
    gaps = {name: abs(as_served[name] - values[name]) for name in length.conditions}
    widest = max(length.conditions, key=gaps.__getitem__)
    words = f"In the lists as served, with ties and empty slots as shown, {length_words(length.profile_length)}"
    if gaps[widest] < SAME_RECALL:
        return f"{words}, recall differs by less than .0005 for every algorithm."
    reversed_pairs = [
        f"{a} and {b}"
        for a, b in itertools.combinations(length.conditions, 2)
        if (values[a] - values[b]) * (as_served[a] - as_served[b]) < 0
    ]
    order = f"reverses {listed(reversed_pairs)}" if reversed_pairs else "ranks the algorithms in the same order"
    return f"{words}, recall {order}; it changes most for {widest}, by {written(gaps[widest], 3, True)}."


def bars_title(length: ProfileLength, kind: str) -> str:
    """The finding of a bar chart of one metric."""
    values = length.defined_values(kind)
    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if values[least] == values[most]:
        return f"All algorithms have the same {kind}"
    if kind == "fallout":
        return f"{least} recommends disliked items least, {most} most"
    return f"{most} finds most of what users like, {least} least"


def curves_title(length: ProfileLength, kind: str, n: int) -> str:
    """The finding of curves over N: whether the ranking at N holds at the end."""
    lines = length.curves(kind)
    sign = 1 if kind == "fallout" else -1
    first = sorted(lines, key=lambda name: sign * lines[name][n - 1])
    last = sorted(lines, key=lambda name: sign * lines[name][-1])
    longest = len(next(iter(lines.values())))
    if first == last:
        return f"The ranking by {kind} at {n} is still the ranking at {longest}"
    leads = "has the lowest fallout" if kind == "fallout" else f"leads in {kind}"
    if first[0] == last[0]:
        return f"{first[0]} {leads} at {n} and at {longest}; the ranking below it changes"
    return f"{first[0]} {leads} at {n}, {last[0]} at {longest}"


def shorter(whole: ProfileLength, cut: ProfileLength, kind: str = "recall") -> str:
    """Whether the ranking changes when profiles are as short as the participants'."""
    before, after = whole.defined_values(kind), cut.defined_values(kind)
    if not before or not after:
        return ""
    ranking_before = sorted(before, key=lambda name: -before[name])
    ranking_after = sorted(after, key=lambda name: -after[name])
    opening = (
        f"With every profile cut at random to {cut.profile_length} ratings, as many as participants give, the ranking "
        f"by {kind}"
    )
    if ranking_before == ranking_after:
        return f"{opening} remains {', '.join(ranking_before)}."
    return f"{opening} is {', '.join(ranking_after)}; with whole profiles it is {', '.join(ranking_before)}."


def acquaintance(split: Mapping[str, Any]) -> str:
    """Whether the test users were as new to the models as participants are; empty where a file named the cases.

    Examples
    --------
    >>> acquaintance({"name": "probe"})
    'Other ratings of the test users trained the models; none of the participants’ did.'
    """
    if split["name"] == "file":
        return ""
    if split["name"] != STRANGERS:
        return "Other ratings of the test users trained the models; none of the participants’ did."
    profile = f"{split['given']} of their ratings" if split["given"] else f"all of their ratings but {split['hidden']}"
    return (
        "The test users were as new to the models as the participants, because no rating of theirs was trained on; the "
        f"profiles had {profile}, drawn at random."
    )
