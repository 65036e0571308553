"""Sentences about what participants perceived."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.narrative.words import plural
from analysis.results.perceived import ItemsOfCondition, Liking, PerceivedVariable
from analysis.tables.cells import capital, equals, f_statistic, listed, percent, written
from inference.partial_order import Tier
from inference.results import Undefined, WelchResult


def omnibus(variable: PerceivedVariable) -> str:
    """Welch's analysis of variance in the style of APA, or the reason why there is none."""
    name, (result, left_out) = variable.variable.in_text, _welch(variable)
    if isinstance(result, Undefined):
        return f"Welch's analysis of variance of {name} has no result. {result.reason}"
    opening = (
        f"{capital(name)} differed significantly between the algorithms"
        if result.p < variable.alpha
        else f"We found no significant difference in {name} between the algorithms"
    )
    test = f_statistic(result.df_between, result.df_within, result.f)
    without = f" The test leaves out {left_out}, without variance." if left_out else ""
    return f"{opening}, Welch's {test}, p {equals(result.p)}.{without}"


def _welch(variable: PerceivedVariable) -> tuple[WelchResult | Undefined, str]:
    """Welch's test and the conditions that it leaves out for having no variance."""
    reduced = variable.welch_without_constant
    if isinstance(variable.welch, Undefined) and isinstance(reduced, WelchResult):
        return reduced, listed(reduced.left_out)
    return variable.welch, ""


def order(variable: PerceivedVariable) -> str:
    """The significant pairs of Games-Howell and the ends of the order, or the detectable difference."""
    tests, tiers = variable.tests.games_howell, variable.orders.games_howell
    if isinstance(tests, Undefined):
        return f"No order can be claimed. {tests.reason}"
    n_significant = sum(pair.is_significant for pair in tests.pairs)
    if not n_significant:
        pairs = f"any of the {len(tests.pairs)} pairs" if len(tests.pairs) > 1 else "the only pair"
        return f"Games-Howell found no significant difference in {pairs}. {_detectable(variable)}".rstrip()
    maximal = [name for name in tiers.best_first if tiers.tiers[name] is Tier.MAXIMAL]
    minimal = [name for name in tiers.best_first if tiers.tiers[name] is Tier.MINIMAL]
    welch, addition = _welch(variable)[0], ""
    if not isinstance(welch, Undefined) and welch.p >= variable.alpha:
        addition = " The test controls its own error rate, so these differences hold without a significant F."
    return (
        f"Games-Howell found significant differences in {n_significant} of {plural(len(tests.pairs), 'pair')}. Maximal "
        f"in {variable.variable.in_text}: {listed(maximal)}; minimal: {listed(minimal)}.{addition}"
    )


def _detectable(variable: PerceivedVariable) -> str:
    """The difference that Tukey's HSD detects with 80% power; empty in reports that lack it."""
    if variable.detectable_difference is None:
        return ""
    low, high = (written(value, 2, variable.variable.is_share) for value in variable.detectable_difference)
    span = low if low == high else f"{low} to {high}, depending on the pair"
    return (
        f"With these sample sizes and variances, the difference that Tukey's HSD detects with 80% power is {span}. The "
        "result is no evidence that smaller differences do not exist."
    )


def other_tests(variable: PerceivedVariable) -> str:
    """Tests of all algorithms that come to another conclusion than Welch's; empty where all agree."""
    welch, _left_out = _welch(variable)
    if isinstance(welch, Undefined):
        return ""
    sentences = []
    for name, test in (
        ("An analysis of variance with equal variances", variable.anova),
        ("The Kruskal-Wallis test", variable.kruskal),
    ):
        if isinstance(test, Undefined) or (test.p < variable.alpha) == (welch.p < variable.alpha):
            continue
        verdict = "significant" if test.p < variable.alpha else "not significant"
        sentences.append(f"{name} was {verdict} (p {equals(test.p)}), unlike Welch's.")
    return " ".join(sentences)


def box_title(variable: PerceivedVariable) -> str:
    """The finding of a box plot."""
    tiers, name = variable.orders.games_howell, variable.variable.in_text
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
    tiers, name = variable.orders.games_howell, variable.variable.in_text
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
