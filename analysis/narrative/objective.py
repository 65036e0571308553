"""Sentences about what a run measured."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from analysis.narrative.words import length_words, plural
from analysis.results.objective import FULL_RANKING, ObjectiveSide, ProfileLength
from analysis.results.report import StudyFacts
from analysis.tables.cells import listed, written
from evaluation.reported_kinds import ERRORS, LOWER_IS_BETTER, kind_at, kind_word
from evaluation.splitting.kinds import STRANGERS
from inference.results import Undefined
from studies.usage_data import CHOICE

SAME_RECALL = 0.0005  # a smaller difference does not show in three digits


def best_and_worst(length: ProfileLength, n: int, kind: str = "recall") -> str:
    """The range of the main metric, with the algorithms at its ends."""
    values, words = length.defined_values(kind), length_words(length.profile_length)
    if not values:
        return f"There are no cases to measure {kind_word(kind)} on, {words}."
    lowest, highest = _ends(values)
    means = ", the mean over users," if length.is_by_user else ""
    is_share = kind not in ERRORS
    return (
        f"{kind_at(kind, n)}{means} {words} ranges from {written(min(values.values()), 3, is_share)} ({lowest}) to "
        f"{written(max(values.values()), 3, is_share)} ({highest})."
    )


def unmeasured(run: ObjectiveSide) -> str:
    """What the protocol cannot measure; empty for one-plus-random.

    Examples
    --------
    >>> unmeasured(ObjectiveSide(n=5, protocol={"name": "one-plus-random"}, split={}, lengths=()))
    ''
    """
    if run.tested == ERRORS:
        return _unmeasured_lists(run)
    if run.protocol["name"] != FULL_RANKING:
        return ""
    return (
        "Fallout has no value: full ranking makes one list per user and does not measure which disliked items reach it."
    )


def _unmeasured_lists(run: ObjectiveSide) -> str:
    values = run.lengths[0].values(run.tested[0])
    missing = [name for name, value in values.items() if value is None]
    sentence = (
        "Errors are measured on items that users chose to rate, and say nothing about the lists that participants met."
    )
    if not missing:
        return sentence
    predicts = "predicts" if len(missing) == 1 else "predict"
    return (
        f"{sentence} {listed(missing)} {predicts} no ratings, so comparisons with errors leave out {listed(missing)}."
    )


def separated(length: ProfileLength, kind: str) -> str:
    """How many pairs of algorithms a metric separates."""
    tests, metric = length.tests(kind), kind_word(kind)
    profiles = length_words(length.profile_length)
    pairs = tests.sign_tests if tests.pairs is None else tests.pairs
    if isinstance(pairs, Undefined):
        return f"No pair of algorithms is compared by {metric} {profiles}. {pairs.reason}"
    n, cases = sum(pair.is_significant for pair in pairs.pairs), plural(tests.n_cases, "case")
    of_users = plural(tests.n_users, "user")
    sample = of_users if tests.n_users == tests.n_cases else f"{of_users}, {cases}"
    found = f"{n} of {plural(len(pairs.pairs), 'pair')}"
    sentence = f"{profiles.capitalize()}, {metric} separates {found} of algorithms ({sample})."
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
    lowest, highest = _ends(values)
    if lowest == highest:
        return f"All algorithms have the same {kind_word(kind)}"
    if kind == "fallout":
        return f"Disliked items are recommended least by {lowest}, most by {highest}"
    if kind in ERRORS:
        return f"The error is smallest for {lowest}, largest for {highest}"
    return f"Most of what users like is found by {highest}, least by {lowest}"


def _ends(values: Mapping[str, float]) -> tuple[str, str]:
    """The algorithms with the lowest and with the highest value."""
    lowest, highest = min(values.values()), max(values.values())
    return (
        listed([name for name in values if values[name] == lowest]),
        listed([name for name in values if values[name] == highest]),
    )


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


def shorter(whole: ProfileLength, cut: ProfileLength, kind: str = "recall", *, as_many: str = "") -> str:
    """Whether the ranking changes when profiles are shorter; `as_many` says whose profiles are as short, if any are."""
    before, after = whole.defined_values(kind), cut.defined_values(kind)
    if not before or not after:
        return ""
    sign = 1 if kind in LOWER_IS_BETTER else -1
    ranking_before = sorted(before, key=lambda name: sign * before[name])
    ranking_after = sorted(after, key=lambda name: sign * after[name])
    opening = (
        f"With every profile cut at random to {cut.profile_length} ratings,{as_many and f' {as_many},'} the ranking "
        f"by {kind_word(kind)}"
    )
    if ranking_before == ranking_after:
        return f"{opening} remains {', '.join(ranking_before)}."
    return f"{opening} is {', '.join(ranking_after)}; with whole profiles it is {', '.join(ranking_before)}."


def as_many_as_participants(study: StudyFacts, length: int) -> str:
    """What profiles of that length have in common with the participants'; empty where it is nothing.

    Where participants decided how many items they rated, the fewest that the study admits are compared.
    """
    if length != study.ratings_asked:
        return ""
    given = "choose" if study.elicitation == CHOICE else "give"
    return f"as many as participants {given}" + (" at least" if study.ratings_most else "")


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
