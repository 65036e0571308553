"""Sentences about the plan of a study, ready to paste.

`alpha` is the level of the plan throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.reported_kinds import kind_at
from inference.groups import in_words
from inference.power import (
    TARGET,
    AnovaPower,
    ContrastPower,
    DetectableEffect,
    SimulatedPower,
    advantage_power,
    needed_bound,
    participants_for_advantage,
    participants_within,
    sign_test_power,
    within_power,
)
from studies.instrument import flags
from studies.instrument.outcomes import possible_outcomes
from studies.instrument.questionnaires.core import is_measured, measures_of
from studies.instrument.questionnaires.schema import Questionnaire
from studies.instrument.scales import scales_of
from studies.plans import TESTS, in_text, primary_test_of
from studies.settings import SCALE_PREFIX, AnalysisPlan, Contrast, Primary, StudySettings

CORRELATION = 0.5  # assumed of a person's values under two conditions
PREFERRING = 0.65  # of those with a preference, for one of two
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
PERCEIVED_LABELS = {
    "accuracy": "Perceived accuracy",
    "fon": "First-order novelty",
    "son": "Second-order novelty",
    "satisfaction": "Global satisfaction",
}


def perceived_labels(questionnaire: Questionnaire, design: StudySettings) -> dict[str, str]:
    """The name of everything that can be a dependent variable: of the four those that are asked, each scale with
    questions, and every outcome, but for the answers that one of the four is made of.

    The key of a scale is ``scale.`` and its key in the questionnaire, as in the plan.
    """
    measures, outcomes = measures_of(questionnaire), possible_outcomes(questionnaire, design)
    return {
        **{key: label for key, label in PERCEIVED_LABELS.items() if key in measures},
        **{f"{SCALE_PREFIX}{scale.key}": next(iter(scale.name.values())) for scale in scales_of(questionnaire)},
        **{
            key: outcome.name
            for key, outcome in outcomes.items()
            if key in design.plan.outcomes or not is_measured(key.partition(".")[0], key.partition(".")[2], measures)
        },
    }


def metric_label(key: str, n: int) -> str:
    """The name of an offline metric.

    Examples
    --------
    >>> metric_label("recall@profile5", 10)
    'Recall at 10, with profiles of 5 ratings'
    """
    kind, _at, profile = key.partition("@profile")
    return kind_at(kind, n) + (f", with profiles of {profile} ratings" if profile else "")


def level(alpha: float) -> str:
    """A level of significance as it is printed.

    Examples
    --------
    >>> level(0.05), level(0.1), level(0.005)
    ('.05', '.10', '.005')
    """
    digits = max(2, len(f"{alpha:.6f}".rstrip("0")) - 2)
    return f"{alpha:.{digits}f}".removeprefix("0")


def rule_of_exclusion(plan: AnalysisPlan) -> str:
    """State the exclusion rule of the analysis.

    Examples
    --------
    >>> rule_of_exclusion(AnalysisPlan(exclude=("too_fast",)))
    'Participants with one of these quality flags are excluded from the analysis: too fast.'
    """
    sentences = []
    if plan.exclude:
        names = ", ".join(flags.NAMES[key].lower() for key in plan.exclude)
        sentences.append(f"Participants with one of these quality flags are excluded from the analysis: {names}.")
    if plan.exclude_words:
        sentences.append(f"Besides: {plan.exclude_words.rstrip('. ')}.")
    return " ".join(sentences) or "No rule leaves out anybody who completes."


REFILL_SENTENCE = (
    "Completers with one of these flags do not count towards the target: their slot goes to another participant."
)


def planned_sentences(plan: AnalysisPlan, labels: Mapping[str, str] = PERCEIVED_LABELS) -> list[str]:
    """The rest of a plan beside its primary pair, for the study's page.

    Examples
    --------
    >>> planned_sentences(AnalysisPlan(variables=("accuracy", "fon")))[0]
    'Tested at α = .05: perceived accuracy and first-order novelty.'
    """
    names = [PERCEIVED_LABELS[key].lower() for key in plan.variables]
    names += [f"“{labels[key]}”" for key in plan.tested[len(plan.variables) :]]
    return [f"Tested at α = {level(plan.alpha)}: {in_words(names)}.", rule_of_exclusion(plan)]


def contrast_in_words(contrast: Contrast) -> str:
    """The two sets of a planned contrast.

    Examples
    --------
    >>> contrast_in_words(Contrast(higher=("LSA", "CorNgr"), lower=("TopPop",)))
    'the mean of LSA and CorNgr against TopPop'
    """
    sets = [
        labels[0] if len(labels) == 1 else f"the mean of {in_words(labels)}"
        for labels in (contrast.higher, contrast.lower)
    ]
    return " against ".join(sets)


def primary_test_sentence(primary: Primary, tests: Mapping[str, str] = TESTS) -> str:
    """The primary test of a plan with its analyses in words; without a contrast or an effect it is their comparison.

    Examples
    --------
    >>> contrast = Contrast(higher=("LSA",), lower=("TopPop",), sides=1)
    >>> primary_test_sentence(Primary(perceived="accuracy", objective="recall", contrast=contrast))
    'Primary test: planned contrast, LSA against TopPop, one-sided.'
    """
    if primary.effect is not None:
        return f"Primary test: {primary.effect.words}, two-sided."
    if (contrast := primary.contrast) is not None:
        sides = "one-sided" if contrast.sides == 1 else "two-sided"
        return f"Primary test: planned contrast, {contrast_in_words(contrast)}, {sides}."
    if primary.perceived in tests:
        return f"Primary test: {tests[primary.perceived]}."
    if primary_test_of(tests, primary.perceived) != "advantage":
        return f"Primary test: {tests['comparison']}."
    return "Primary test: average advantage of the conditions with the better offline metric."


def share(value: float, digits: int = 2) -> str:
    """A number that cannot exceed 1, without its leading zero.

    What would be rounded to 1 is told as more than the highest number below it.

    Examples
    --------
    >>> share(0.7673), share(1.0), share(0.9999)
    ('.77', '1.00', '> .99')
    """
    text = f"{value:.{digits}f}"
    if value < 1 and text.startswith("1"):
        return "> ." + "9" * digits
    return text.removeprefix("0")


def needed_sentence(plan: AnovaPower) -> str:
    """State the sample size for a target effect and power.

    Examples
    --------
    >>> from inference.power import participants_needed
    >>> needed_sentence(participants_needed(7, 0.25)).split(" with ")[1:3]
    ['a power of .81', '33 participants per condition, so 231 in all (λ = 14.44, critical F(6, 224) = 2.14).']
    """
    return (
        f"A one-way ANOVA of {plan.conditions} conditions finds an effect of f = {plan.f:.2f} at α = "
        f"{share(plan.alpha)} with a power of {share(plan.power)} with {plan.n_per_condition:,} participants per "
        f"condition, so {plan.n_total:,} in all (λ = {plan.noncentrality:.2f}, critical "
        f"F({plan.df_between}, {plan.df_within:,}) = {plan.critical_f:.2f})."
    )


def planned_sentence(plan: AnovaPower, smallest: DetectableEffect) -> str:
    """State the power and the smallest detectable effect of the planned sample size.

    Examples
    --------
    >>> from inference.power import anova_power, detectable_effect
    >>> print(planned_sentence(anova_power(7, 30, 0.25), detectable_effect(7, 30)))
    With 30 participants per condition, 210 in all, the power for that effect is .77. The smallest effect found with a power of .80 is f = 0.26 (η² = .06): the highest and the lowest condition 0.97 standard deviations apart, all others midway.
    """  # noqa: E501 (a sentence as it is printed)
    return (
        f"With {plan.n_per_condition:,} participants per condition, {plan.n_total:,} in all, the power for that effect "
        f"is {share(plan.power)}. The smallest effect found with a power of {share(smallest.power)} is "
        f"f = {smallest.f:.2f} (η² = {share(smallest.eta_squared)}): the highest and the lowest condition "
        f"{smallest.difference_in_sd:.2f} standard deviations apart, all others midway."
    )


def advantage_power_sentence(*, conditions: int, n: int, f: float, alpha: float, variable: str, metric: str) -> str:
    """State the power of the average advantage as the primary test.

    Examples
    --------
    >>> print(advantage_power_sentence(conditions=7, n=30, f=0.25, alpha=0.05, variable="Perceived accuracy", metric="Recall at 5"))
    If perceived accuracy rises or falls evenly with recall at 5 (f = 0.25 over 7 conditions), the average advantage is significant at α = .05 with a power of .95 with 30 participants per condition. A power of .80 takes 19 per condition.
    """  # noqa: E501 (a sentence as it is printed)
    return (
        f"If {in_text(variable)} rises or falls evenly with {in_text(metric)} (f = {f:.2f} over {conditions} "
        f"conditions), the average advantage is significant at α = {level(alpha)} with a power of "
        f"{share(advantage_power(conditions, n, f, alpha=alpha))} with {n:,} participants per condition. A power of "
        f"{share(TARGET)} takes {participants_for_advantage(conditions, f, power=TARGET, alpha=alpha):,} per condition."
    )


def contrast_power_sentence(power: ContrastPower, contrast: Contrast, *, n: int, f: float, alpha: float) -> str:
    """State the power of a planned contrast as the primary test.

    Examples
    --------
    >>> from inference.power import contrast_power
    >>> contrast = Contrast(higher=("A",), lower=("B",))
    >>> print(contrast_power_sentence(contrast_power(1, 1, 2, 64, 0.25), contrast, n=64, f=0.25, alpha=0.05))
    With 64 participants per condition the planned contrast, A against B (two-sided, α = .05), has a power of .80 for a difference of 0.50 standard deviations, which f = 0.25 means when all other conditions lie at the grand mean.
    """  # noqa: E501 (a sentence as it is printed)
    sides = "one-sided" if contrast.sides == 1 else "two-sided"
    return (
        f"With {n:,} participants per condition the planned contrast, {contrast_in_words(contrast)} ({sides}, α = "
        f"{level(alpha)}), has a power of {share(power.power)} for a difference of {power.difference:.2f} standard "
        f"deviations, which f = {f:.2f} means when all other conditions lie at the grand mean."
    )


def in_turn_power_sentence(*, conditions: int, n: int, f: float, alpha: float, sides: int = 2) -> str:
    """State the power where each participant meets all conditions: of their comparison and of the primary test."""
    of: dict[str, Any] = {"conditions": conditions, "f": f, "correlation": CORRELATION, "alpha": alpha}
    primary = {**of, "contrast": True, "alpha": alpha * (3 - sides)}  # one-sided at α is two-sided at 2α
    return (
        f"If a participant's values under two conditions correlate by {share(CORRELATION)}, a comparison of the "
        f"{conditions} conditions finds an effect of f = {f:.2f} at α = {level(alpha)} with a power of "
        f"{share(within_power(n=n, **of))} with {n:,} participants, who each meet all of them; a power of "
        f"{share(TARGET)} takes {participants_within(**of):,}. The primary test "
        f"({'one' if sides == 1 else 'two'}-sided) has a power of {share(within_power(n=n, **primary))} if all of f "
        f"lies in it; a power of {share(TARGET)} takes {participants_within(**primary):,}."
    )


def preference_power_sentence(*, n: int, pairs: int, pairs_each: int, alpha: float) -> str:
    """State the power of the sign test of one pair, where `n` participants each compare `pairs_each` of the `pairs`."""
    each = n * pairs_each // pairs
    return (
        f"Each pair of lists is compared by {each:,} participants. If {PREFERRING:.0%} of them prefer one and the "
        f"others the other, an exact sign test of the pair at α = {level(alpha)} has a power of "
        f"{share(sign_test_power(each, PREFERRING, alpha=alpha))}."
    )


def equivalence_power_sentence(bound: float, *, n: int, conditions: int, alpha: float, variable: str) -> str:
    """State for which spread of answers equal conditions can be shown to be equivalent.

    `bound` is the smallest effect of interest, in points of the variable.

    Examples
    --------
    >>> print(equivalence_power_sentence(0.5, n=70, conditions=2, alpha=0.05, variable="Perceived accuracy"))
    Equivalence within 0.5 points of perceived accuracy: with 70 participants per condition two truly equal conditions are shown to differ by less with a power of .80 if the standard deviation within conditions is at most 1.01 points.
    """  # noqa: E501 (a sentence as it is printed)
    pairs = conditions * (conditions - 1) // 2
    opening = (
        f"Equivalence within {bound:g} points of {in_text(variable)}: with {n:,} participants per condition two truly "
        f"equal conditions are shown to differ by less with a power of {share(TARGET)} if the standard deviation "
        f"within conditions is at most {bound / needed_bound(n, alpha=alpha):.2f} points"
    )
    if pairs == 1:
        return f"{opening}."
    strict = bound / needed_bound(n, alpha=alpha, pairs=pairs)
    return f"{opening} for one pair alone, and {strict:.2f} at the first step of Holm's correction over {pairs} pairs."


def simulated_sentence(
    result: SimulatedPower, means: tuple[float, ...], *, sd: float, f: float, n: int, items: int
) -> str:
    """State the power simulated under stated effects. `f` is that of the stated means before rounding to the scale."""
    stated = ", ".join(f"{mean:g}" for mean in means)
    values = "" if items == 1 else f", and the mean of {items} answers as a participant's value"
    undefined = (
        f" In {result.undefined:,} of them all participants gave equal values; they count as not significant."
        if result.undefined
        else ""
    )
    return (
        f"In {result.repetitions:,} simulated studies with {n:,} participants per condition, stated means of {stated} "
        f"and a standard deviation of {sd:g} for a single answer (f = {f:.2f} between single answers, before they are "
        f"rounded to the scale){values}, the ANOVA was significant in {share(result.power)} of them, 95% CI "
        f"[{share(result.interval.low)}, {share(result.interval.high)}].{undefined}"
    )
