"""The preregistration text of a study, under the headings that registries ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from documents.markdown import escaped, paragraphs
from studies.design.narrative.plan import REFILL_SENTENCE, contrast_in_words, level, rule_of_exclusion
from studies.flow_pages import SIDE_BY_SIDE
from studies.instrument.outcomes import Outcome
from studies.instrument.scales import ScaleOfStudy
from studies.plans import ALL_OCCASIONS, in_text, share_tests
from studies.settings import AnalysisPlan, Primary, StudySettings

ASPREDICTED = "aspredicted"
OSF = "osf"
FORMS = (ASPREDICTED, OSF)

VARIABLES = {
    "accuracy": "**Perceived accuracy**: the mean of a participant's ratings of the recommended items, 1 to 5.",
    "fon": (
        "**First-order novelty**: the share of the recommended items that the participant had not {consumed}, 0 to 1."
    ),
    "son": (
        "**Second-order novelty**: the share of the recommended items that the participant had neither {consumed} nor "
        "heard of, 0 to 1."
    ),
    "satisfaction": "**Global satisfaction**: one answer about the list as a whole, 1 to 5.",
}


@dataclass(frozen=True)
class ConditionPlan:
    """One condition: its name, the algorithm with its parameters in words, the model's digest and its target."""

    label: str
    algorithm: str
    model: str
    target: int


def scale_in_words(scale: ScaleOfStudy) -> str:
    """What a scale measures and how, as a line of the dependent variables."""
    name, n = escaped(next(iter(scale.name.values()))), len(scale.members)
    score = "one answer" if n == 1 else f"the mean of {n} answers"
    return f"**{name}**: a scale of the questionnaire, {score}, {scale.minimum:g} to {scale.maximum:g}."


def outcome_in_words(outcome: Outcome) -> str:
    """What an outcome is, as a line of the dependent variables."""
    return f"**{escaped(outcome.name)}**: `{outcome.key}`, {outcome.how}, {outcome.low:g} to {outcome.high:g}."


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that the text tells, as the study stands; what is in words may be empty."""

    title: str
    slug: str
    design: StudySettings
    design_hash: str  # empty for a draft
    n_consented: int  # people, not simulated ones, who have given consent so far
    # `perceived_name`, `objective_name`: the primary pair in words
    perceived_name: str
    objective_name: str
    conditions: Sequence[ConditionPlan]  # in the order of the design
    dataset: str  # name and version of the dataset, and the start of its hash
    known_items: str  # what a participant does with known items: rates 5 known items
    profile: str  # how ratings become the profile of a recommender, where it is not plain
    assignment: str  # the method in a sentence
    # `strata`, `quotas`: what is kept even, and who is limited, in words
    strata: Sequence[str]
    quotas: Sequence[str]
    admitted: Sequence[str]  # screening rules of the questions about the person, in words
    seed: str  # a sentence about the seed of the assignment
    power: Sequence[str]  # sentences about power
    lists: str  # which lists each participant meets, and in which orders; empty with one list
    n_sequences: int  # 0 with one list
    n_slots: int  # participants planned
    scales: Mapping[str, str]  # the scales and outcomes that the plan names in words, by variable
    covariates: Sequence[str]  # those of the plan, in words
    consumed: str  # what participants do with an item, as a past participle
    tests: Sequence[str]  # the analyses, where an earlier version froze others or each participant meets several lists

    @property
    def arm(self) -> str:
        return "sequence" if self.lists else "condition"

    @property
    def subjects(self) -> str:
        return f"{'within' if self.lists else 'between'} participants"

    @property
    def primary(self) -> Primary:
        return self.design.primary

    @property
    def analysis(self) -> AnalysisPlan:
        return self.design.plan


def preregistration(plan: Plan, form: str = ASPREDICTED) -> str:
    """The text in Markdown, ready to be gone over and pasted.

    `form` is one of `FORMS`: AsPredicted's questions, or the headings of the OSF preregistration. What only the
    researcher can say stands in square brackets.
    """
    plan = _escaped(plan)
    sections = _aspredicted(plan) if form == ASPREDICTED else _osf(plan)
    state = f"design {plan.design_hash}" if plan.design_hash else "a draft: its design is not frozen yet"
    head = f"# {plan.title}\n\nStudy `{plan.slug}`, {state}.\n"
    return head + "".join(f"\n## {title}\n\n{text}\n" for title, text in sections)


def _escaped(plan: Plan) -> Plan:
    def each(words: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(escaped, words))

    design = plan.design
    sets = design.primary.contrast
    sets = sets and sets.model_copy(update={"higher": each(sets.higher), "lower": each(sets.lower)})
    analysis = design.plan.model_copy(update={"exclude_words": escaped(design.plan.exclude_words)})
    primary = design.primary.model_copy(update={"contrast": sets})
    changed = {"hypothesis": paragraphs(design.hypothesis), "plan": analysis, "primary": primary}
    return replace(
        plan,
        title=escaped(plan.title),
        design=design.model_copy(update=changed),
        perceived_name=escaped(plan.perceived_name),
        conditions=[replace(condition, label=escaped(condition.label)) for condition in plan.conditions],
        strata=each(plan.strata),
        quotas=each(plan.quotas),
        admitted=each(plan.admitted),
        covariates=each(plan.covariates),
    )


def _aspredicted(plan: Plan) -> list[tuple[str, str]]:
    return [
        ("1. Have any data been collected for this study already?", _data(plan)),
        ("2. What is the main question being asked or hypothesis being tested?", _question(plan)),
        ("3. The key dependent variables and how they are measured", _variables(plan)),
        ("4. How many and which conditions will participants be assigned to?", _conditions(plan)),
        ("5. Analyses", _analyses(plan)),
        ("6. Outliers and exclusions", _exclusions(plan)),
        ("7. How many observations, and what decides the sample size?", _sample(plan)),
        ("8. Anything else", _anything_else(plan)),
    ]


def _osf(plan: Plan) -> list[tuple[str, str]]:
    blinding = "Participants are not told which recommender they meet, nor which ones there are."
    n = len(plan.conditions)
    manipulated = f"Manipulated: the recommender, {n} levels, {plan.subjects}. Nothing else differs."
    return [
        ("Study information: hypotheses", _question(plan)),
        ("Design plan: study type, blinding and design", f"{_conditions(plan)}\n\n{blinding}"),
        ("Design plan: randomisation", _assignment(plan)),
        ("Sampling plan: existing data", _data(plan)),
        ("Sampling plan: data collection, sample size and stopping rule", _sample(plan)),
        ("Variables: manipulated and measured", f"{manipulated}\n\n{_variables(plan)}"),
        ("Analysis plan: statistical models and inference criteria", _analyses(plan)),
        ("Analysis plan: data exclusion and missing data", _exclusions(plan)),
        ("Other", _anything_else(plan)),
    ]


def _data(plan: Plan) -> str:
    if not plan.n_consented:
        return "No. No participant has taken part yet. Any data of simulated participants are kept apart."
    people = "1 person has" if plan.n_consented == 1 else f"{plan.n_consented:,} people have"
    return f"Yes: {people} given consent so far. [Say what has been looked at.]"


def _question(plan: Plan) -> str:
    own = plan.design.hypothesis or "[State the hypothesis in your own words, with its direction.]"
    return (
        f"{own}\n\n"
        f"Primary pair: **{plan.perceived_name}** as participants judge it, and **{plan.objective_name}** as measured "
        f"offline on the same trained models. {_primary_question(plan)}"
    )


def _primary_question(plan: Plan) -> str:
    contrast = plan.primary.contrast
    if plan.primary.effect is not None:
        return (
            f"Primary test: {plan.primary.effect.words} on {in_text(plan.perceived_name)}, two-sided. Every other "
            "effect, and every comparison of a perceived variable and an offline metric, is exploratory."
        )
    if contrast is None and plan.primary.perceived in share_tests(plan.design):
        return (
            f"Do conditions differ in the {in_text(plan.perceived_name)}? Every comparison of a perceived variable and "
            "an offline metric is exploratory."
        )
    if contrast is None:
        is_compared = plan.design.flow.lists.shown == SIDE_BY_SIDE
        return (
            f"Do participants {'prefer' if is_compared else 'rate'} the recommenders with the better "
            f"metric{'' if is_compared else ' higher'}? Every other pair of a perceived "
            "variable and an offline metric is exploratory."
        )
    expected = "is expected to be higher" if contrast.sides == 1 else "is compared"
    return (
        f"Primary test: a planned contrast of {in_text(plan.perceived_name)}, {contrast_in_words(contrast)}; the "
        f"first {expected}{'' if contrast.sides == 1 else ' with the second, two-sided'}. Every other "
        "comparison of a perceived variable and an offline metric is exploratory."
    )


def _variables(plan: Plan) -> str:
    described = {
        key: VARIABLES[key].format(consumed=plan.consumed) for key in VARIABLES if key in plan.analysis.variables
    }
    described |= plan.scales
    lines = [
        f"- {described.pop(plan.primary.perceived)} (primary)",
        *(f"- {line}" for line in described.values()),
    ]
    return "\n".join(lines)


def _conditions(plan: Plan) -> str:
    profile = f" {plan.profile}" if plan.profile else ""
    lines = "\n".join(
        f"- {c.label}: {c.algorithm}, model `{c.model[:12]}`{'' if plan.lists else f', {c.target:,} participants'}"
        for c in plan.conditions
    )
    pages = "on the same pages"
    if factors := plan.design.factors:
        crossed = "\n".join(f"- {factor.words}" for factor in factors)
        lines = f"{lines}\n\nThe conditions are the full product of these factors:\n\n{crossed}"
        pages = "on pages that differ between conditions in the factors below alone"
    met, each = (f". {plan.lists}", " of each list") if plan.lists else ("; each participant meets one.", "")
    return (
        f"{len(plan.conditions)} conditions {plan.subjects}{met} A condition is a "
        f"recommender trained on {plan.dataset}. Each participant {plan.known_items} and judges "
        f"{plan.design.listed} recommendations{each}, {pages}.{profile}\n\n{lines}\n\n{_assignment(plan)}"
    )


def _assignment(plan: Plan) -> str:
    strata = f" Kept even: {'; '.join(plan.strata)}." if plan.strata else ""
    return f"{plan.assignment}{strata} {plan.seed}"


def _analyses(plan: Plan) -> str:
    alpha = level(plan.analysis.alpha)
    if plan.tests:
        of = "The launch froze these analyses" if plan.design_hash else "The analyses"
        return (
            f"{of}, at α = {alpha}:\n\n"
            + "\n".join(f"- {words}" for words in plan.tests)
            + ("" if plan.lists else f"\n\n{_equivalence(plan)}{_covariates(plan)}")
        ).rstrip()
    return (
        f"For each dependent variable Welch's analysis of variance over the conditions at α = {alpha}, then Games and "
        f"Howell's test of every pair of conditions with {100 * (1 - plan.analysis.alpha):.4g}% simultaneous "
        "intervals. Beside them the report has a one-way analysis of variance with Tukey's HSD, and Kruskal and "
        "Wallis's test with Dunn's corrected by Holm. A condition is placed above another where its mean is higher "
        f"and Games and Howell's adjusted p is below {alpha}. Offline metrics separate two conditions where "
        f"single-step max-|t| over all pairs, clustered by user, is significant at the family-wise α = {alpha}; where "
        "fewer than 25 users differ, sign flips must also reach α over the number of pairs.\n\n"
        f"{_primary_test(plan)}{_shares(plan)}{_equivalence(plan)}{_covariates(plan)}"
    )


def _shares(plan: Plan) -> str:
    tests = dict.fromkeys(share_tests(plan.design).values())
    return f" Tested beside these: {'; '.join(tests)}." if tests else ""


EXPLORATORY = (
    "The average advantages of the other perceived variables and offline metrics, at most 16, are corrected together "
    "by Holm and called exploratory."
)


def _primary_test(plan: Plan) -> str:
    alpha = level(plan.analysis.alpha)
    if plan.primary.contrast is not None:
        sides = "one-sided, in the expected direction" if plan.primary.contrast.sides == 1 else "two-sided"
        return (
            f"Primary test: the planned contrast {contrast_in_words(plan.primary.contrast)} in "
            f"{in_text(plan.perceived_name)}, conditions of one set weighted equally: a t test, {sides}, at α = "
            f"{alpha}, with the variance pooled over all conditions; Welch's version, which allows unequal variances, "
            "is reported alongside. It is not corrected, being the one confirmatory test of the primary question. "
            f"{EXPLORATORY}"
        )
    if plan.primary.effect is not None:
        return (
            f"Primary test: {plan.primary.effect.words} on {in_text(plan.perceived_name)}, a contrast of the "
            "conditions' means in which the levels of all other factors have equal weights: a two-sided t test at α = "
            f"{alpha} with a variance of its own for each condition and Satterthwaite's degrees of freedom. It is not "
            f"corrected, being the one confirmatory test of the primary question. {EXPLORATORY}"
        )
    if words := share_tests(plan.design).get(plan.primary.perceived):
        return (
            f"Primary test: {words}, at α = {alpha}. It is not corrected, being the one confirmatory test of the "
            f"primary question. {EXPLORATORY}"
        )
    confidence = f"{100 * (1 - plan.analysis.alpha):.4g}% confidence interval"
    relevant = ""
    if plan.primary.smallest_effect is not None:
        relevant = (
            f"; as no relevant relation if neither, and the {100 * (1 - 2 * plan.analysis.alpha):.4g}% interval lies "
            f"within ±{plan.primary.smallest_effect:g}"
        )
    return (
        f"Primary test: the average advantage, the mean difference in {in_text(plan.perceived_name)} between the "
        f"recommenders with the better and the worse {plan.objective_name} over the pairs that this metric separates: "
        f"a two-sided t test at α = {alpha} with separate variances (Welch and Satterthwaite's degrees of freedom). It "
        f"counts as agreement if its {confidence} lies above 0, as disagreement if below{relevant}; otherwise the "
        f"study cannot tell. {EXPLORATORY}"
    )


def _equivalence(plan: Plan) -> str:
    if (smallest := plan.primary.smallest_effect) is None:
        return ""
    contrast = " and the planned contrast" if plan.primary.contrast is not None else ""
    errors = (
        "the standard errors of the mixed model" if plan.design.flow.lists.is_several else "Welch's standard errors"
    )
    return (
        f" The smallest effect of interest in {in_text(plan.perceived_name)} is {smallest:g} points. Every "
        f"pair of conditions{contrast} is tested for equivalence within that bound by two one-sided t tests, and for a "
        f"difference beyond it, each at α = {level(plan.analysis.alpha)}, with {errors}; both families "
        "of pairs are corrected by Holm."
    )


def _covariates(plan: Plan) -> str:
    if not plan.covariates or plan.design.flow.lists.is_several:  # participants are compared with themselves
        return ""
    return (
        " Beside the unadjusted comparisons an analysis of covariance is reported with the stratification factors and "
        f"these covariates, measured before assignment: {', '.join(plan.covariates)}. A missing number has the mean, a "
        "missing choice is a level of its own."
    )


def _exclusions(plan: Plan) -> str:
    missing = "Every question that these analyses use is required, so completers have no missing answers."
    if plan.scales:
        missing = (
            "Every question behind the perceived variables is required, so completers have no missing answers. "
            "A participant who answered too few questions of a scale has no score of it and is left out of the tests "
            "of that scale alone."
        )
    if plan.analysis.outcomes:
        missing = "A participant without an answer to one of the variables is left out of the tests of that one alone."
    admitted = f" Admitted are: {'; '.join(plan.admitted)}." if plan.admitted else ""
    left = "Those who leave before the end, withdraw or return their submission are not; their number"
    if ALL_OCCASIONS in plan.tests:
        left = (
            "So are the occasions that those who leave before the end have finished: occasions without a value are "
            "taken as missing at random, and exclusion rules that need a complete session do not apply. Those who "
            "withdraw, return their submission or fail attention checks are not analysed. The number of each"
        )
    return (
        f"Analysed are all who complete the study. {left} is reported for each {plan.arm}, and their slot goes to "
        f"another participant.{admitted} {rule_of_exclusion(plan.analysis)} "
        f"{REFILL_SENTENCE + ' ' if plan.design.refill_excluded else ''}"
        f"Values are not trimmed. {missing}"
    )


def _sample(plan: Plan) -> str:
    counts = sorted({condition.target for condition in plan.conditions})
    each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    if plan.n_sequences:
        each = f"{plan.n_slots // plan.n_sequences:,}"
    quotas = (
        f"\n\nQuotas, beyond which newcomers are thanked and sent away: {'; '.join(plan.quotas)}."
        if plan.quotas
        else ""
    )
    return (
        f"{plan.n_slots:,} participants who complete, {each} in each {plan.arm}. The study ends when every "
        f"{plan.arm} reaches its target; outcomes by condition stay blinded until then.\n\n"
        + " ".join(plan.power)
        + quotas
    )


def _anything_else(plan: Plan) -> str:
    if plan.design_hash:
        return f"The design is frozen under the SHA-256 {plan.design_hash}; every export and report bears it."
    return "The launch will freeze the design under a SHA-256, which every export and report bears."
