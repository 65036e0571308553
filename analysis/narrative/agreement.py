"""Sentences on how far both sides agree, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.enums import variable_of
from analysis.narrative.verdict import capital, equals, in_words, metric_of, tau_text
from analysis.tables.cells import listed
from analysis.tables.levels import alpha_of

Result = Mapping[str, Any]


def contradictions(comparison: Result, n: int) -> list[str]:
    """What both sides tell apart in opposite directions, pair by pair, in words."""
    variable, metric = variable_of(comparison["variable"], comparison), metric_of(comparison, n)

    def finding(a: str, b: str) -> str:
        if variable.adjective:
            return f"Participants find {a} more {variable.adjective} than {b}"
        return f"In {variable.in_text} participants score {a} higher than {b}"

    return [
        f"{finding(pair['a'], pair['b'])}, p {equals(pair['perceived_p'])}; {metric.in_text} says the opposite, p "
        f"{equals(pair['objective_p'])}."
        for pair in comparison["orders"]["pairs"]
        if pair["verdict"] == "contradicted"
    ]


def agreement(comparison: Result, n: int) -> str:
    """How many pairs of algorithms both sides tell apart, and how."""
    counts, metric = comparison["orders"]["counts"], metric_of(comparison, n)
    total = sum(counts.values())
    if not total:
        return "There are no two algorithms that both sides measured."
    return (
        f"Of {total} pair{'s' if total != 1 else ''} of algorithms, "
        f"{counts['agreed']} are told apart by both sides alike, "
        f"{counts['contradicted']} in opposite directions, {counts['perceived only']} by participants only, "
        f"{counts['objective only']} by {metric.kind} only, and {counts['neither']} by neither."
    )


def alike(comparison: Result) -> str:
    """Which pairs of algorithms both sides tell apart in one direction."""
    pairs = [f"{one['a']} over {one['b']}" for one in comparison["orders"]["pairs"] if one["verdict"] == "agreed"]
    if not pairs:
        return ""
    found = "One pair is" if len(pairs) == 1 else f"{capital(in_words(len(pairs)))} pairs are"
    return f"{found} told apart by both sides in one direction: {listed(pairs)}."


def pointing(comparison: Result) -> str:
    """Which pairs the metric orders against participants, significantly or not."""
    x, y = comparison["ranks"]["perceived"], comparison["ranks"]["objective"]
    names = sorted(comparison["conditions"], key=lambda name: (x[name], y[name]))
    against = [
        f"{above} over {below}"
        for place, above in enumerate(names)
        for below in names[place + 1 :]
        if x[above] < x[below] and y[above] > y[below]
    ]
    found = comparison["directions"]
    if not found["is_defined"]:
        return ""
    ties = f", {found['tied']} tie on a side" if found["tied"] else ""
    said = (
        f"Significant or not, {comparison['kind']} points the way participants do in {found['same']} of "
        f"{found['n_pairs']} pair{'s' if found['n_pairs'] != 1 else ''}{ties} "
        f"(one-sided permutation p {equals(found['p'])}; the pairs hang together, so "
        "none of them is a test of its own)."
    )
    return f"{said} It turns round: {listed(against)}." if against else said


def slope_title(comparison: Result) -> str:
    """The finding of the two rankings side by side."""
    counts = comparison["directions"]
    kind = comparison["kind"]
    variable = variable_of(comparison["variable"], comparison).in_text
    if not counts["is_defined"]:
        return f"{capital(variable)} and {kind} side by side"
    if counts["opposite"] == 0:
        return f"{capital(kind)} and {variable} put no two algorithms in opposite order"
    return (
        f"{capital(kind)} and {variable} put {counts['opposite']} of {counts['n_pairs']} "
        f"pair{'s' if counts['n_pairs'] != 1 else ''} in opposite order"
    )


def scatter_title(comparison: Result, n: int) -> str:
    """The finding of one dot an algorithm."""
    variable, metric = variable_of(comparison["variable"], comparison), metric_of(comparison, n)
    tau = comparison["tau"]
    if not tau["is_defined"]:
        return f"{capital(variable.in_text)} beside {metric.in_text}"
    found = f"τ = {tau_text(tau['coefficient'])}, exact p {equals(tau['p'])}"
    if tau["p"] >= alpha_of(comparison):
        return f"{capital(variable.in_text)} could not be shown to follow {metric.kind} ({found})"
    verb = "follows" if tau["coefficient"] > 0 else "is negatively correlated with"
    return f"{capital(variable.in_text)} {verb} {metric.in_text} ({found})"
