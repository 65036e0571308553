"""Sentences about what participants perceived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import variable_of
from analysis.tables.cells import listed, p_alone, written
from analysis.tables.levels import alpha_of
from inference import apa
from inference.results import Interval

Result = Mapping[str, Any]
TEST_NAMES = {"games_howell": "Games-Howell", "dunn_holm": "Dunn-Holm"}


def anova(variable: Result) -> str:
    """The analysis of variance in the style of APA, or why there is none.

    Examples
    --------
    >>> anova({"key": "fon", "anova": {"is_defined": False, "reason": "Nobody differs."}})
    'There is no analysis of variance of first-order novelty. Nobody differs.'
    """
    found, name = variable["anova"], variable_of(variable["key"], variable).in_text
    if not found["is_defined"]:
        return f"There is no analysis of variance of {name}. {found['reason']}"
    limits = found["eta_squared_ci"]
    test = (
        apa.f_test(
            found["f"],
            found["df_between"],
            found["df_within"],
            found["p"],
            found["eta_squared"],
            Interval(limits["low"], limits["high"]) if limits else None,
        )
        .replace("-", "−")
        .replace("95% CI", "95 % CI")
    )
    omega = apa.share(max(0.0, found["omega_squared"]))
    if found["p"] < alpha_of(variable):
        opening = f"{_capital(name)} differs between the algorithms"
    else:
        opening = f"The algorithms could not be shown to differ in {name}"
    left_out = ""
    if found["left_out"]:
        left_out = f" {listed(found['left_out'])} took no part, with fewer than two participants."
    constant = ""
    if found["constant"]:
        verb = "has" if len(found["constant"]) == 1 else "have"
        constant = f" {listed(found['constant'])} {verb} no variance."
    return f"{opening}, {test}, ω² = {omega}.{left_out}{constant}"


def order(variable: Result) -> str:
    """What Tukey's test tells apart, or that no order can be claimed and what could have been seen."""
    tukey, relation = variable["tests"]["tukey"], variable["orders"]["tukey"]
    name = variable_of(variable["key"], variable).in_text
    if not tukey["is_defined"]:
        return f"No order can be claimed. {tukey['reason']}"
    n_pairs = len(tukey["pairs"])
    n_told = sum(pair["is_significant"] for pair in tukey["pairs"])
    if not n_told:
        none = f"tells none of the {n_pairs} pairs apart" if n_pairs > 1 else "does not tell the one pair apart"
        return f"Tukey's test {none}: no order can be claimed. {_could_have_seen(variable)}"
    maximal = [one for one in relation["best_first"] if relation["tiers"][one] == "maximal"]
    minimal = [one for one in relation["best_first"] if relation["tiers"][one] == "minimal"]
    anova_p = variable["anova"].get("p")
    surprise = ""
    if anova_p is not None and anova_p >= alpha_of(variable):
        surprise = " It controls its error by itself, so these pairs stand although the analysis of variance does not."
    return (
        f"Tukey's test tells {n_told} of {_pairs(n_pairs)} apart. Maximal in {name}: {listed(maximal)}; "
        f"minimal: {listed(minimal)}.{surprise}"
    )


def _pairs(n: int) -> str:
    return f"{n} pairs" if n != 1 else "1 pair"


def _could_have_seen(variable: Result) -> str:
    smallest = variable["smallest_told_apart"]
    if smallest is None:
        return ""
    is_share = variable_of(variable["key"], variable).is_share
    low, high = (written(value, 2, is_share) for value in smallest)
    span = low if low == high else f"{low} to {high}"
    return f"With these numbers and this spread, means {span} apart would have been told apart."


def robustness(variable: Result) -> str:
    """Whether the robust tests agree; a sentence on every one that does not."""
    said = []
    classical, alpha = variable["anova"], alpha_of(variable)
    for key, title in (("welch", "Welch's analysis of variance"), ("kruskal", "Kruskal-Wallis")):
        found = variable[key]
        if key == "welch" and not found["is_defined"] and variable["welch_without_constant"]["is_defined"]:
            found = variable["welch_without_constant"]
            title = f"{title} without {listed(found['left_out'])}"
        if not (found["is_defined"] and classical["is_defined"]):
            continue
        if (found["p"] < alpha) != (classical["p"] < alpha):
            verdict = "finds a difference" if found["p"] < alpha else "finds none"
            said.append(f"{title} {verdict} (p {_equals(found['p'])}), other than the classical test.")
    for key, title in TEST_NAMES.items():
        found = variable["survives"][key]
        if not found["is_defined"] or found["is_same_order"]:
            continue
        changes = []
        if found["lost"]:
            changes.append(f"does not confirm {_relation(found['lost'])}")
        if found["gained"]:
            changes.append(f"finds besides {_relation(found['gained'])}")
        said.append(f"{title} {' and '.join(changes)}.")
    spread = variable["brown_forsythe"]
    if spread["is_defined"] and spread["p"] < alpha:
        said.append(
            f"The spread differs between algorithms (Brown-Forsythe, p {_equals(spread['p'])}), which Tukey's test "
            "assumes it does not: read Games-Howell beside it."
        )
    if not said:
        if not classical["is_defined"]:
            return ""
        return (
            "The tests that assume less (Welch, Kruskal-Wallis, Games-Howell, Dunn-Holm) come to the same conclusions."
        )
    return " ".join(said)


def _relation(pairs: Sequence[Sequence[str]]) -> str:
    return listed([f"{above} over {below}" for above, below in pairs])


def _equals(p: float) -> str:
    alone = p_alone(p)
    return alone if alone[0] in "<>" else f"= {alone}"


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def box_title(variable: Result) -> str:
    """The finding of a box plot."""
    described, relation = variable["described"], variable["orders"]["tukey"]
    name = variable_of(variable["key"], variable).in_text
    if len(described) == 1:
        return f"{_capital(name)} of {next(iter(described))}, the only algorithm with answers"
    if relation["is_empty"]:
        return f"In {name} no algorithm is told apart from another"
    best = relation["best_first"][0]
    worst = relation["best_first"][-1]
    n_below, n_above = len(relation["dominates"][best]), len(relation["dominated_by"][worst])
    n_others = len(relation["names"]) - 1
    if n_below >= n_above and n_below:
        return f"{best} has the highest {name}, told apart from {n_below} of {n_others} others"
    if n_above:
        return f"{worst} has the lowest {name}, told apart from {n_above} of {n_others} others"
    return f"In {name} some algorithms are told apart, though neither the highest nor the lowest"


def hasse_title(variable: Result) -> str:
    """The finding of a Hasse diagram."""
    relation = variable["orders"]["tukey"]
    name = variable_of(variable["key"], variable).in_text
    if relation["is_empty"]:
        return f"No order of the algorithms can be claimed in {name}"
    n = sum(len(below) for below in relation["dominates"].values())
    k = len(relation["names"])
    return f"{n} of {_pairs(k * (k - 1) // 2)} are in order in {name}"


def items(found: Sequence[Result]) -> list[str]:
    """A warning for each condition that few items carry, and one for slots that popularity filled."""
    said = []
    for one in found:
        if one["is_carried_by_few"]:
            said.append(
                f"{one['condition']} is judged by few items: {one['n_distinct']} distinct items fill its "
                f"{one['n_slots']:,} slots, and the most shown make up {100 * one['share_of_most_shown']:.0f} % of "
                "them. "
                "What is said of the algorithm is said of these items."
            )
        if one["n_filled"]:
            said.append(
                f"Of the slots of {one['condition']}, {one['n_filled']:,} of {one['n_slots']:,} were filled by "
                "popularity, "
                "as the algorithm had no score for enough items."
            )
    return said


def liking(found: Sequence[Result]) -> str:
    """How much of perceived accuracy is liking, and how much expected interest."""
    watched = sum(one["n_watched"] for one in found)
    slots = watched + sum(one["n_not_watched"] for one in found)
    if not slots:
        return "Nobody has judged an item yet."
    mixed = (
        f"Perceived accuracy mixes two things: liking, of the {100 * watched / slots:.0f} % of items that participants "
        "had watched, and expected interest, in the others."
    )
    shares = [one["share_watched"] for one in found if one["share_watched"] is not None]
    if len(shares) < 2:
        return mixed
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    if low == high:
        return f"{mixed} The share watched is the same by every algorithm."
    return (
        f"{mixed} The share watched runs from {low} % to {high} % by algorithm, so a difference in accuracy may be a "
        "difference in this mix."
    )
