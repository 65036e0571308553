"""Sentences about what a run measured."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from analysis.tables.cells import listed, written

Result = Mapping[str, Any]


def length_words(length: int) -> str:
    """How a profile length stands in a sentence."""
    return f"with profiles of {length} ratings" if length else "with whole profiles"


def best_and_worst(one: Result, n: int) -> str:
    """Who has the highest and the lowest recall."""
    values = {line["condition"]: line["recall"] for line in one["table"] if line["recall"] is not None}
    if not values:
        return f"There is no case to measure recall on, {length_words(one['profile_length'])}."
    highest, lowest = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
    return (
        f"Recall at {n} {length_words(one['profile_length'])} runs from {written(values[lowest], 3, True)} "
        f"({lowest}) to "
        f"{written(values[highest], 3, True)} ({highest})."
    )


def signs(one: Result, kind: str) -> str:
    """How many pairs of algorithms users tell apart."""
    found = one[kind]["sign_tests"]
    if not found["is_defined"]:
        return f"There are no sign tests on {kind}. {found['reason']}"
    told = sum(pair["is_significant"] for pair in found["pairs"])
    n = len(found["pairs"])
    circle = one[kind]["order"]["cycle"]
    said = f"Sign tests on {kind} by user tell {told} of {n} pair{'s' if n != 1 else ''} apart after Holm's correction."
    if circle:
        said += f" {listed(circle)} dominate each other in a circle, which sign tests may do."
    return said


def served(one: Result) -> str:
    """Whether recall of the lists as they are served orders the algorithms alike; empty where it was not measured."""
    found = one.get("served", {}).get("recall")
    values = {line["condition"]: line["recall"] for line in one["table"]}
    if not found or None in values.values():
        return ""
    gaps = {name: abs(found[name] - values[name]) for name in one["conditions"]}
    widest = max(one["conditions"], key=gaps.__getitem__)
    pairs = itertools.combinations(one["conditions"], 2)
    turned = [(a, b) for a, b in pairs if (values[a] - values[b]) * (found[a] - found[b]) < 0]
    words = f"As served, with ties and empty slots as participants meet them, {length_words(one['profile_length'])}"
    if gaps[widest] < 0.0005:
        return f"{words}, recall is the same."
    order = (
        f"turns {listed([f'{a} and {b}' for a, b in turned])} round" if turned else "keeps the order of the algorithms"
    )
    return f"{words}, recall {order}; it changes most for {widest}, by {written(gaps[widest], 3, True)}."


def bars_title(one: Result, kind: str) -> str:
    """The finding of a bar chart of one metric."""
    values = {line["condition"]: line[kind] for line in one["table"] if line[kind] is not None}
    least = min(values, key=values.__getitem__)
    most = max(values, key=values.__getitem__)
    if values[least] == values[most]:
        return f"All algorithms have the same {kind}"
    if kind == "fallout":
        return f"{least} recommends disliked items least, {most} most"
    return f"{most} finds most of what users like, {least} least"


def curves_title(one: Result, kind: str, n: int) -> str:
    """The finding of curves over N: whether the order at N holds at the end."""
    lines = {name: one["by_n"][kind][name] for name in one["conditions"]}
    lines = {name: line for name, line in lines.items() if line and None not in line}
    sign = 1 if kind == "fallout" else -1
    first = sorted(lines, key=lambda name: sign * lines[name][n - 1])
    last = sorted(lines, key=lambda name: sign * lines[name][-1])
    length = len(next(iter(lines.values())))
    if first == last:
        return f"The order by {kind} at {n} is still the order at {length}"
    if kind == "fallout":
        if first[0] == last[0]:
            return f"{first[0]} has the least fallout at {n} and at {length}; the order behind it changes"
        return f"{first[0]} has the least fallout at {n}, {last[0]} at {length}"
    if first[0] == last[0]:
        return f"{first[0]} leads in {kind} at {n} and at {length}; the order below it changes"
    return f"{first[0]} leads in {kind} at {n}, {last[0]} at {length}"


def shorter(whole: Result, cut: Result, kind: str = "recall") -> str:
    """Whether the order changes when profiles are as short as the participants'."""
    before = {line["condition"]: line[kind] for line in whole["table"] if line[kind] is not None}
    after = {line["condition"]: line[kind] for line in cut["table"] if line[kind] is not None}
    if not before or not after:
        return ""
    order_before = sorted(before, key=lambda name: -before[name])
    order_after = sorted(after, key=lambda name: -after[name])
    length = cut["profile_length"]
    opening = (
        f"Participants give few ratings: with each profile cut at random to {length}, as they give, the order by {kind}"
    )
    if order_before == order_after:
        return f"{opening} stays {', '.join(order_before)}."
    return f"{opening} becomes {', '.join(order_after)}; with whole profiles it is {', '.join(order_before)}."
