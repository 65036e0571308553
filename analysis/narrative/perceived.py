"""Sentences about what participants perceived."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.narrative.words import plural
from analysis.results.perceived import ItemsOfCondition, Liking, PerceivedVariable
from analysis.tables.cells import capital, equals, listed, percent, relation, written
from inference import apa
from inference.partial_order import Tier
from inference.results import Undefined, WelchResult


def anova(variable: PerceivedVariable) -> str:
    """The analysis of variance in the style of APA, or the reason why there is none."""
    result, name = variable.anova, variable.variable.in_text
    if isinstance(result, Undefined):
        return f"There is no analysis of variance of {name}. {result.reason}"
    test = apa.anova(result).replace("-", "−")
    opening = (
        f"{capital(name)} differed significantly between the algorithms"
        if result.p < variable.alpha
        else f"We found no significant difference in {name} between the algorithms"
    )
    sentences = [f"{opening}, {test}, ω² = {apa.share(max(0.0, result.omega_squared))}."]
    if result.left_out:
        sentences.append(f"The test leaves out {listed(result.left_out)}, with fewer than two participants.")
    if result.constant:
        sentences.append(f"{listed(result.constant)} {'has' if len(result.constant) == 1 else 'have'} no variance.")
    return " ".join(sentences)


def order(variable: PerceivedVariable) -> str:
    """The significant pairs of Tukey's test and the ends of the order, or the detectable difference."""
    tukey, tiers = variable.tests.tukey, variable.orders.tukey
    if isinstance(tukey, Undefined):
        return f"No order can be claimed. {tukey.reason}"
    n_significant = sum(pair.is_significant for pair in tukey.pairs)
    if not n_significant:
        pairs = f"any of the {len(tukey.pairs)} pairs" if len(tukey.pairs) > 1 else "the only pair"
        return f"Tukey's HSD found no significant difference in {pairs}. {_detectable(variable)}".rstrip()
    maximal = [name for name in tiers.best_first if tiers.tiers[name] is Tier.MAXIMAL]
    minimal = [name for name in tiers.best_first if tiers.tiers[name] is Tier.MINIMAL]
    addition = ""
    if not isinstance(variable.anova, Undefined) and variable.anova.p >= variable.alpha:
        addition = " The test controls its own error rate, so these differences hold without a significant F."
    return (
        f"Tukey's HSD found significant differences in {n_significant} of {plural(len(tukey.pairs), 'pair')}. Maximal "
        f"in {variable.variable.in_text}: {listed(maximal)}; minimal: {listed(minimal)}.{addition}"
    )


def _detectable(variable: PerceivedVariable) -> str:
    """The difference that Tukey's test detects with 80% power; empty in reports that lack it."""
    if variable.detectable_difference is None:
        return ""
    low, high = (written(value, 2, variable.variable.is_share) for value in variable.detectable_difference)
    span = low if low == high else f"{low} to {high}, depending on the pair"
    return (
        f"With these sample sizes and variances, the difference detectable with 80% power is {span}. The result is no "
        "evidence that smaller differences do not exist."
    )


def robustness(variable: PerceivedVariable) -> str:
    """Whether the robust tests agree; a sentence on every one that does not."""
    sentences = _other_tests(variable)
    for name, test in (("Games-Howell", variable.survives.games_howell), ("Dunn-Holm", variable.survives.dunn_holm)):
        if isinstance(test, Undefined) or test.is_same_order:
            continue
        changes = []
        if test.lost:
            changes.append(f"does not confirm {relation(test.lost)}")
        if test.gained:
            changes.append(f"also finds {relation(test.gained)}")
        sentences.append(f"{name} {' and '.join(changes)}.")
    spread = variable.brown_forsythe
    if not isinstance(spread, Undefined) and spread.p < variable.alpha:
        sentences.append(
            f"The variances differed significantly between algorithms (Brown-Forsythe, p {equals(spread.p)}), which "
            "violates an assumption of Tukey's HSD: see Games-Howell."
        )
    if not sentences and not isinstance(variable.anova, Undefined):
        return (
            "The tests with weaker assumptions (Welch, Kruskal-Wallis, Games-Howell, Dunn-Holm) lead to the same "
            "conclusions."
        )
    return " ".join(sentences)


def _other_tests(variable: PerceivedVariable) -> list[str]:
    """Overall tests that come to another conclusion than the analysis of variance."""
    anova, welch, welch_name = variable.anova, variable.welch, "Welch's analysis of variance"
    if isinstance(anova, Undefined):
        return []
    reduced = variable.welch_without_constant
    if isinstance(welch, Undefined) and isinstance(reduced, WelchResult):
        welch, welch_name = reduced, f"{welch_name} without {listed(reduced.left_out)}"
    sentences = []
    for name, test in ((welch_name, welch), ("The Kruskal-Wallis test", variable.kruskal)):
        if isinstance(test, Undefined) or (test.p < variable.alpha) == (anova.p < variable.alpha):
            continue
        verdict = "significant" if test.p < variable.alpha else "not significant"
        sentences.append(f"{name} was {verdict} (p {equals(test.p)}), unlike the classical test.")
    return sentences


def box_title(variable: PerceivedVariable) -> str:
    """The finding of a box plot."""
    tiers, name = variable.orders.tukey, variable.variable.in_text
    if len(variable.described) == 1:
        return f"{capital(name)} of {next(iter(variable.described))}, the only algorithm with answers"
    if tiers.is_empty:
        return f"No significant differences between algorithms in {name}"
    best, worst = tiers.best_first[0], tiers.best_first[-1]
    n_below, n_above, n_others = len(tiers.dominates[best]), len(tiers.dominated_by[worst]), len(tiers.names) - 1
    if n_below >= n_above and n_below:
        return f"{best} has the highest {name}, significantly above {n_below} of {n_others} others"
    if n_above:
        return f"{worst} has the lowest {name}, significantly below {n_above} of {n_others} others"
    return f"Some algorithms differ significantly in {name}, but neither the highest nor the lowest does"


def hasse_title(variable: PerceivedVariable) -> str:
    """The finding of a Hasse diagram."""
    tiers, name = variable.orders.tukey, variable.variable.in_text
    if tiers.is_empty:
        return f"No order of the algorithms can be claimed in {name}"
    return f"{len(tiers.pairs)} of {plural(tiers.n_possible, 'pair')} differ significantly in {name}"


def items(conditions: Sequence[ItemsOfCondition]) -> list[str]:
    """A warning for each condition with few items, and one for slots that popularity filled."""
    sentences = []
    for condition in conditions:
        name = condition.condition
        if condition.is_carried_by_few and condition.share_of_most_shown is not None:
            sentences.append(
                f"{name} recommended few items: {condition.n_distinct} distinct items fill its "
                f"{condition.n_slots:,} slots, and the most frequent make up {percent(condition.share_of_most_shown)} "
                "of them. Conclusions about this algorithm rest on these items."
            )
        if condition.n_filled:
            sentences.append(
                f"{name} had no score for enough items: {condition.n_filled:,} of its {condition.n_slots:,} slots "
                "were filled by popularity."
            )
    return sentences


def liking(conditions: Sequence[Liking], consumed: str) -> str:
    """How much of perceived accuracy is liking, and how much interest; `consumed` is the study's participle."""
    n_watched = sum(condition.n_watched for condition in conditions)
    n_slots = n_watched + sum(condition.n_not_watched for condition in conditions)
    if not n_slots:
        return "No participant has judged an item yet."
    mixture = (
        f"Perceived accuracy combines liking, for the {percent(n_watched / n_slots)} of items that participants had "
        f"{consumed}, and expected interest in the others."
    )
    shares = [condition.share_watched for condition in conditions if condition.share_watched is not None]
    if len(shares) < 2:
        return mixture
    low, high = percent(min(shares)), percent(max(shares))
    if low == high:
        return f"{mixture} The share {consumed} is {low} for every algorithm, to the nearest percent."
    return (
        f"{mixture} The share {consumed} ranges from {low} to {high} between algorithms, so a difference in accuracy "
        "may be a difference in this mixture."
    )
