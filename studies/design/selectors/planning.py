"""What a draft's numbers mean: power, the imbalance to expect, and the plan for a preregistration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.item_types import FALLBACK_LANGUAGE
from core.provenance import derived_seed, rng_for
from documents.markdown import escaped
from evaluation.selectors.results import is_pooled
from inference.power import (
    AnovaPower,
    DetectableEffect,
    anova_power,
    contrast_power,
    detectable_effect,
    effect_of_means,
    participants_needed,
    simulated_power,
)
from studies.allocation.assignment.imbalance import Imbalance, of_every_method
from studies.allocation.assignment.methods import LEAST_FILLED, MINIMISATION, PERMUTED_BLOCKS, Method, method_from
from studies.allocation.assignment.strata import Strata, strata_from
from studies.allocation.assignment.wording import quotas_as_text
from studies.allocation.selectors.allocations import n_left_out, n_occasions, n_slots
from studies.allocation.selectors.assignment_seed import (
    commitment_sentence,
    is_seed_known,
    known_sentence,
    seed_commitment,
)
from studies.design.narrative.plan import (
    NUMBERS,
    advantage_power_sentence,
    contrast_power_sentence,
    equivalence_power_sentence,
    in_turn_power_sentence,
    level,
    metric_label,
    needed_sentence,
    perceived_labels,
    planned_sentence,
    preference_power_sentence,
    share,
    simulated_sentence,
)
from studies.design.narrative.preregistration import ConditionPlan, Plan, outcome_in_words, scale_in_words
from studies.design.selectors.placeholders import asked_questions, item_words, key_in_words, known_items_phrase
from studies.design.selectors.versions import frozen_tests
from studies.enums import Mode
from studies.flow_pages import IN_TURN, SIDE_BY_SIDE
from studies.instrument.outcomes import planned_outcomes
from studies.instrument.questionnaires.schema import Question
from studies.instrument.scales import scales_of
from studies.known_items import scale_rule
from studies.models import Study
from studies.plans import primary_test_of, tests_of
from studies.recruitment.interviewer_text import nested_sentence
from studies.recruitment.selectors.recruitment import is_nested
from studies.settings import SCALE_PREFIX
from studies.usage_data import is_usage, taken_rule

WISHED_POWER = 0.8
CONVENTIONS = (("f = 0.10", 0.10), ("f = 0.25", 0.25), ("f = 0.40", 0.40))
CURVE_POINTS = 40
MOST_DRAWS = 20_000_000  # numbers drawn for one simulation: about a second
MOST_REPETITIONS = 2000
FEWEST_REPETITIONS = 200


def planned_number(study: Study) -> tuple[int, int]:
    """The number of conditions, and of participants who meet the smallest one: what power can count on."""
    targets = list(study.conditions.values_list("target", flat=True))
    return len(targets), n_slots(study) if study.design.flow.lists.is_several else min(targets, default=0)


def lists_in_words(study: Study) -> str:
    """Which lists each participant meets, and in which orders; empty with one list."""
    lists, k, n, pairs = study.design.flow.lists, study.conditions.count(), study.sequences.count(), n_occasions(study)
    if not n:
        return ""
    if lists.shown == IN_TURN:
        task = f"meets the lists of {'both' if k == 2 else f'all {NUMBERS[k]}'} conditions in turn"
        sentence = f"Each participant {task}, in one of {NUMBERS[n]} orders of a Williams square."
    else:
        task = f"compares {NUMBERS[pairs]} pair{'s' if pairs > 1 else ''} of lists side by side"
        balance = "every pair is equally often at each position, with each of its lists on the left"
        sentence = f"Each participant {task}, in one of {NUMBERS[n]} sequences; {balance}."
    return sentence + (" Items of earlier lists are left out of later ones." if n_left_out(study) else "")


@dataclass(frozen=True)
class Expected:
    """The imbalance to expect of each method, and of the strata."""

    n_participants: int
    n_conditions: int
    repetitions: int
    methods: tuple[tuple[str, bool, Imbalance], ...]  # name, whether it is chosen, numbers
    strata: tuple[tuple[str, float, float], ...]  # name, participants expected, the same in each condition
    merged: tuple[tuple[str, tuple[str, ...]], ...]  # name, members


def expected_imbalance(study: Study, targets: Sequence[int], method: Method, strata: Strata) -> Expected:
    """Simulate a design that may not be saved yet; raises ParameterError where it is too large."""
    by_method = of_every_method(targets, method, strata, seed=derived_seed(study.seed, "imbalance"))
    n, k = sum(targets), len(targets)
    members: dict[str, list[str]] = {}
    for name, merged in strata.merged().items():
        members.setdefault(merged, []).append(name)
    is_merged = method.name == PERMUTED_BLOCKS
    shares = strata.expected_merged() if is_merged else strata.expected()
    return Expected(
        n,
        k,
        next(iter(by_method.values())).repetitions,
        tuple((name, name == method.name, imbalance) for name, imbalance in by_method.items()),
        tuple((name, share * n, share * n / k) for name, share in shares.items()),
        tuple((name, tuple(names)) for name, names in members.items()) if is_merged else (),
    )


@dataclass(frozen=True)
class PowerPlan:
    """Power for a stated effect: what it takes, what the planned number gives, and what that can see."""

    needed: AnovaPower
    planned: AnovaPower
    smallest: DetectableEffect
    stated: str  # which curve is of the stated effect
    n_values: tuple[int, ...]
    curves: dict[str, tuple[float, ...]]


def power_plan(*, conditions: int, planned: int, f: float, power: float, alpha: float) -> PowerPlan:
    """Answer the three questions of planning, and draw power against participants; raises ParameterError."""
    needed = participants_needed(conditions, f, power, alpha)
    longest = max(2 * planned, min(round(1.3 * needed.n_per_condition), 8 * planned), 20)
    step = max(1, round(longest / CURVE_POINTS))
    n_values = tuple(sorted({*range(2, longest + 1, step), planned}))
    effects = {name: value for name, value in CONVENTIONS if abs(value - f) > 0.005}
    stated = f"f = {f:.2f}"
    effects[stated] = f
    return PowerPlan(
        needed,
        anova_power(conditions, planned, f, alpha),
        detectable_effect(conditions, planned, power, alpha),
        stated,
        n_values,
        {
            name: tuple(anova_power(conditions, n, value, alpha).power for n in n_values)
            for name, value in sorted(effects.items(), key=lambda effect: effect[1])
        },
    )


def simulated_power_sentence(
    study: Study, *, means: Sequence[float], sd: float, n: int, items: int, alpha: float
) -> str:
    """Draw studies under stated means; raises ParameterError. The same statement gives the same numbers."""
    each = len(means) * n * (items + 1)
    repetitions = max(FEWEST_REPETITIONS, min(MOST_REPETITIONS, MOST_DRAWS // max(each, 1)))
    power = simulated_power(
        means, sd, n, rng=rng_for(study.seed, "power"), items=items, alpha=alpha, repetitions=repetitions
    )
    return simulated_sentence(power, tuple(means), sd=sd, f=effect_of_means(means, sd), n=n, items=items)


def primary_power_sentence(study: Study, *, n: int, f: float, alpha: float) -> str:
    """The power of the study's own primary test for an effect `f`, and of its equivalence test, if it has one.

    `n` participants meet each condition. Empty with fewer than two conditions. Raises ParameterError. The same design
    gives the same numbers.
    """
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    primary = study.design.primary
    k = len(labels)
    if k < 2:
        return ""
    shown = study.design.flow.lists.shown
    if shown == SIDE_BY_SIDE:
        return preference_power_sentence(n=n, pairs=k * (k - 1) // 2, pairs_each=n_occasions(study), alpha=alpha)
    if shown == IN_TURN:
        sides = primary.contrast.sides if primary.contrast else 2
        return in_turn_power_sentence(conditions=k, n=n, f=f, alpha=alpha, sides=sides)
    variable = perceived_labels(asked_questions(study), study.design)[primary.perceived]
    if primary.effect is not None:
        by_t = contrast_power(1, 1, k, n, f, alpha=alpha)  # the same for all weights, if the effect makes all of f
        primary_test = (
            f"With {n:,} participants per condition the test of {primary.effect.words} (two-sided, α = {level(alpha)}) "
            f"has a power of {share(by_t.power)} if that effect makes all of f = {f:.2f}."
        )
    elif (contrast := primary.contrast) is not None:
        sizes = len(contrast.higher), len(contrast.lower)
        by_t = contrast_power(*sizes, k, n, f, sides=contrast.sides, alpha=alpha)
        primary_test = contrast_power_sentence(by_t, contrast, n=n, f=f, alpha=alpha)
    elif primary_test_of(frozen_tests(study), primary.perceived) == "shares":
        primary_test = (
            f"The primary test compares the shares of all conditions: with {n:,} participants per condition its power "
            f"for f = {f:.2f} is about {share(anova_power(k, n, f, alpha).power)}, that of the analysis of variance."
        )
    else:
        metric = objective_name(study)
        primary_test = advantage_power_sentence(conditions=k, n=n, f=f, alpha=alpha, variable=variable, metric=metric)
    if (bound := primary.smallest_effect) is None:
        return primary_test
    equivalence = equivalence_power_sentence(bound, n=n, conditions=k, alpha=alpha, variable=variable)
    return f"{primary_test} {equivalence}"


def _method_sentence(method: Method, arm: str) -> str:
    """The method in a sentence; `arm` is what people are assigned to: a condition, or a sequence of them."""
    if method.name == PERMUTED_BLOCKS:
        *most, last = ({1: "once", 2: "twice"}.get(n, f"{n} times") for n in method.multiples)
        times = f"{', '.join(most)} or {last}" if most else last
        size = ", drawn at random for each block" if len(set(method.multiples)) > 1 else ""
        ratio = ":".join(map(str, method.weights))
        contents = f"the {arm}s in the ratio {ratio}," if ratio else f"each {arm}"
        return f"Assignment by permuted blocks within strata; a block holds {contents} {times}{size}, in a drawn order."
    if method.name == MINIMISATION:
        return (
            "Assignment by minimisation (Pocock and Simon, 1975) over the margins named below and the whole, by the "
            f"variance of the counts; the best {arm} is taken with probability {method.probability:g}."
        )
    if method.name == LEAST_FILLED:
        return f"Assignment to the {arm} furthest from its target, equal ones by a draw."
    return f"Assignment by simple randomisation among the {arm}s that are not full."


def objective_name(study: Study) -> str:
    """The primary offline metric; of a run of whole lists it says what its recall is."""
    name = metric_label(study.design.primary.objective, study.run.n)
    return name if is_pooled(study.run) else f"{name}, mean over users in {study.run.protocol['name']}"


def method_sentence(study: Study) -> str:
    """How participants are assigned to conditions or sequences, in a sentence."""
    arm = "sequence" if study.design.flow.lists.is_several else "condition"
    return _method_sentence(method_from(study.design), arm)


def _strata_in_words(method: Method, strata: Strata) -> tuple[str, ...]:
    if method.name == PERMUTED_BLOCKS and strata.rules:
        return tuple(strata.expected_merged())
    if method.name == MINIMISATION:
        return tuple(f"{rule.question} ({', '.join(rule.levels)})" for rule in strata.rules)
    return ()


def _admitted(question: Question) -> str:
    if question.admits is not None:
        words = {True: "yes", False: "no"}
        values = [words[value] if isinstance(value, bool) else str(value) for value in question.admits]
        return f"{question.key} is {' or '.join(values)}"
    low, high = question.admits_minimum, question.admits_maximum
    if low is not None and high is not None:
        return f"{question.key} from {low} to {high}"
    return f"{question.key} at least {low}" if low is not None else f"{question.key} at most {high}"


def preregistration_plan(study: Study) -> Plan:
    """Everything that a preregistration text tells, as the study stands."""
    design, primary = study.design, study.design.primary
    method, strata = method_from(design), strata_from(design)
    conditions = [
        ConditionPlan(
            c.label,
            c.model.algorithm + (f" ({parameters})" if parameters else ""),
            c.model_digest,
            c.target,
        )
        for c in study.conditions.select_related("model").order_by("position")
        for parameters in [", ".join(f"{name} = {value}" for name, value in c.model.params.items())]
    ]
    k, planned = planned_number(study)
    analysis = design.plan
    power: tuple[str, ...] = ()
    if k >= 2 and planned >= 2 and design.flow.lists.is_several:
        power = (primary_power_sentence(study, n=planned, f=design.effect, alpha=analysis.alpha),)
    elif k >= 2 and planned >= 2:
        planning = power_plan(
            conditions=k,
            planned=planned,
            f=design.effect,
            power=WISHED_POWER,
            alpha=analysis.alpha,
        )
        power = (
            needed_sentence(planning.needed),
            planned_sentence(planning.planned, planning.smallest),
            primary_power_sentence(study, n=planned, f=planning.planned.f, alpha=analysis.alpha),
        )
    version, tests, lists = study.dataset_version, frozen_tests(study), design.flow.lists
    questionnaire = asked_questions(study)
    about = questionnaire.about
    is_limited = [
        q for q in about if q.admits is not None or q.admits_minimum is not None or q.admits_maximum is not None
    ]
    return Plan(
        title=study.title,
        slug=study.slug,
        design=design,
        design_hash=study.design_hash,
        n_consented=study.participants.filter(mode=Mode.LIVE).count(),
        perceived_name=perceived_labels(questionnaire, design)[primary.perceived],
        objective_name=objective_name(study),
        conditions=conditions,
        dataset=f"{escaped(str(version))} (`{version.content_hash[:12]}`)",
        known_items=known_items_phrase(design),
        profile=taken_rule(design) if is_usage(version) else scale_rule(design.scale),
        assignment=f"{method_sentence(study)} {nested_sentence()}" if is_nested(study) else method_sentence(study),
        strata=_strata_in_words(method, strata),
        quotas=tuple(
            f"at most {quota.most:,} of {line.partition(': ')[2]}"
            for quota, line in zip(
                design.quotas, quotas_as_text([quota.stored() for quota in design.quotas]).splitlines(), strict=True
            )
        ),
        admitted=tuple(map(_admitted, is_limited)),
        seed=known_sentence(study.seed) if is_seed_known(study) else commitment_sentence(seed_commitment(study)),
        power=power,
        lists=lists_in_words(study),
        n_sequences=study.sequences.count(),
        n_slots=n_slots(study),
        covariates=tuple(key_in_words(key, design) for key in analysis.covariates),
        consumed=item_words(design, FALLBACK_LANGUAGE).consumed,
        scales={
            f"{SCALE_PREFIX}{scale.key}": scale_in_words(scale)
            for scale in scales_of(questionnaire)
            if scale.key in analysis.scales
        }
        | {outcome.key: outcome_in_words(outcome) for outcome in planned_outcomes(questionnaire, design)},
        tests=tuple(tests.values()) if lists.is_several or tests != tests_of(design) else (),
    )
