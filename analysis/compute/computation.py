"""Compute every number of a report from the answers and the run's measurements."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.compute.comparison import (
    Choices,
    advantage_of,
    all_comparisons,
    alternatives_of,
    contrasted_metric,
    exploratory_of,
    tested_contrast,
    tested_equivalence,
)
from analysis.compute.covariates import covariate_analyses
from analysis.compute.design_checks import design_checks
from analysis.compute.exclusions import TestedVariable, by_key, with_and_without
from analysis.compute.follow_up import correlations_of, effects_of_all, nested_model
from analysis.compute.lists_shown import lists_shown
from analysis.compute.matrix import comparison_matrix
from analysis.compute.objective import study_measured
from analysis.compute.offline import offline_effects, pooled_repeats
from analysis.compute.perceived import items_by_condition, liking_and_interest, study_variable
from analysis.compute.power import achieved_power
from analysis.compute.rankings import Ranking
from analysis.compute.sample import described_sample
from analysis.compute.scales import constructs_of, planned_scales, study_scale
from analysis.enums import VARIABLE_OF, Metric, Variable
from analysis.read.backgrounds import Backgrounds, backgrounds_of
from analysis.read.inputs import Measured, conditions_of
from analysis.read.lists import ShownLists, Slots, shown_lists
from analysis.read.metrics import Repetitions, StoredMetric
from analysis.read.responses import Reading, median_profile_length
from analysis.read.sample import Opened
from analysis.results.codec import encode
from analysis.results.comparison import Advantage, Alternative, Equivalence, PlannedContrast
from analysis.results.exclusions import ComparedAdvantage, ComparedContrast
from analysis.results.flow import Flow
from analysis.results.lists_shown import ListsShown
from analysis.results.objective import Candidates, ObjectiveSide, ProfileLength
from analysis.results.plan import Planned, ReportPlan
from analysis.results.report import AnswerCounts, ConditionFacts, ItemWords, Results, StudyFacts
from analysis.results.variables import scale_variables
from catalog.item_types import FALLBACK_LANGUAGE
from core.provenance import canonical_json, rng_for
from evaluation.models import EvaluationRun
from evaluation.reported_kinds import tested_kinds
from evaluation.selectors.cases import candidate_range
from evaluation.selectors.title_words import learns_from_titles_alone
from inference.average_advantage import MeanEstimates
from inference.results import Undefined
from studies.design.selectors.placeholders import asked_questions, item_words
from studies.enums import Mode
from studies.models import Study
from studies.usage_data import CHOICE, is_usage

Progress = Callable[[str], None]


def silent(words: str) -> None:
    """Report no progress."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What the numbers of a report are computed from."""

    study: Study
    run: EvaluationRun
    mode: str
    reading: Reading
    measured: tuple[Measured, ...]
    plan: ReportPlan
    planned: Planned
    flow: Flow
    opened: Opened
    metrics: tuple[StoredMetric, ...] = ()
    is_pilot: bool = False
    repetitions: Repetitions | None = None


def compute(inputs: Inputs, progress: Progress = silent) -> dict[str, Any]:
    """Every number of a report, as JSON values; every random draw is from a named stream."""
    study, answers, alpha = inputs.study, inputs.reading.analysed, inputs.plan.alpha
    consumed = item_words(study.design, FALLBACK_LANGUAGE).consumed
    has_trailers = study.design.kind_of_item.has_trailers and study.design.offers_samples
    words = ItemWords.of(consumed, has_trailers=has_trailers)
    tested = _tested_variables(inputs, progress)
    perceived = {test.variable: test.ranking for test in tested}
    lengths, objective = _tested_metrics(inputs, progress)
    progress("Computing effect sizes, ordinal models and correlations")
    effects, scale_effects = effects_of_all(answers, perceived, alpha)
    correlations, novelty = correlations_of(answers, list(perceived))
    progress("Generalising over items")
    nested, nested_means = nested_model(answers, alpha)
    progress("Measuring the lists shown")
    lists = _shown_lists(inputs)
    progress("Adjusting for covariates and losses")
    backgrounds = backgrounds_of(study, inputs.reading.keys, inputs.plan.covariates)
    covariates = covariate_analyses(
        study, inputs.reading, inputs.flow, lists=lists, consumed=consumed, tested=list(perceived),
        primary=by_key(perceived, inputs.plan.primary.perceived), backgrounds=backgrounds, alpha=alpha,
    )  # fmt: skip
    progress("Comparing both sides")
    primary = inputs.plan.primary
    pair = (primary.perceived, primary.objective)
    contrast, compared_contrast = _contrast(inputs, perceived, objective)
    comparisons = all_comparisons(
        perceived, objective, pair, alpha=alpha, is_tested=inputs.plan.primary_test == "rank correlation"
    )
    advantage, compared_advantage = _advantage(inputs, perceived, objective, nested_means)
    alternatives = _alternatives(inputs, perceived, objective, advantage, backgrounds, consumed)
    exploratory = exploratory_of(answers, perceived, objective, pair, alpha=alpha)
    progress("Comparing every metric with every measure")
    matrix = comparison_matrix(inputs.metrics, perceived, comparisons, alpha=alpha)
    n_analysed = {condition.condition: condition.analysed for condition in inputs.flow.by_condition}
    conditions = [
        ConditionFacts(
            label=condition.label,
            algorithm=condition.model.algorithm,
            params=condition.model.params,
            n=n_analysed[condition.label],
            is_of_titles=learns_from_titles_alone(
                study.dataset_version, condition.model.algorithm, condition.model.params
            ),
        )
        for condition in conditions_of(study)
    ]
    design = study.design
    chooses, requested = design.is_choice, design.items_asked
    results = Results(
        study=StudyFacts(
            slug=study.slug,
            title=study.title,
            list_length=design.list_length,
            ratings_asked=requested.fewest,
            taken_from=design.lowest_taken if is_usage(study.dataset_version) and not chooses else None,
            words=words,
            elicitation=CHOICE if chooses else None,
            elicitation_scale=design.elicitation_scale if "elicitation_scale" in design.model_fields_set else None,
            ratings_most=requested.most if requested.is_range else None,
            ratings_median=median_profile_length(inputs.reading.keys) if requested.is_range else None,
        ),
        mode=inputs.mode,
        is_pilot=inputs.is_pilot,
        planted_effects=design.planted_effects if inputs.mode == Mode.SIMULATED else {},
        conditions=tuple(facts for facts in conditions if facts.label in answers.conditions),
        left_out=tuple(facts for facts in conditions if facts.label not in answers.conditions),
        plan=inputs.plan,
        planned=inputs.planned,
        flow=inputs.flow,
        exclusions=with_and_without(
            inputs.reading, tested, objective, pair, alpha=alpha, contrast=compared_contrast,
            advantage=compared_advantage,
        ),
        sample=described_sample(inputs.reading, asked_questions(study), inputs.opened, study.seed),
        answers=AnswerCounts(
            n=answers.n_answers,
            n_modelled=answers.n_modelled,
            n_true=answers.n_answers - answers.n_modelled if inputs.mode == Mode.SIMULATED else 0,
            n_incomplete=answers.n_incomplete,
        ),
        scale_variables=scale_variables(perceived),
        variables=tuple(test.result for test in tested),
        power=achieved_power(answers, study, alpha),
        items=items_by_condition(answers, design.list_length),
        liking=liking_and_interest(answers),
        effects=effects,
        scale_effects=scale_effects,
        correlations=correlations,
        novelty=novelty,
        nested=nested,
        scales=tuple(study_scale(answers, scale, inputs.plan.scales) for scale in answers.scales),
        constructs=constructs_of(answers, rng_for(study.seed, "report", "constructs"), progress),
        covariates=covariates,
        lists_shown=_lists_shown(inputs, lists, perceived),
        objective=_objective(inputs.run, lengths),
        offline_effects=offline_effects(lengths, tested_kinds(inputs.run.protocol)),
        repeats=pooled_repeats(inputs.repetitions, study.seed, alpha=alpha, resamples=inputs.plan.resamples),
        comparisons=comparisons,
        matrix=matrix,
        advantage=advantage,
        exploratory=exploratory,
        design_checks=design_checks(inputs.reading, inputs.opened),
        alternatives=alternatives,
        contrast=contrast,
        equivalence=_equivalence(inputs, perceived, contrast),
    )  # fmt: skip
    # Through JSON and back: drawing now and drawing from the stored row give the same; NaN is refused.
    plain: dict[str, Any] = json.loads(canonical_json(encode(Results, results)))
    return plain


def _tested_variables(inputs: Inputs, progress: Progress) -> list[TestedVariable]:
    """Every variable and planned scale, tested."""
    answers, plan = inputs.reading.analysed, inputs.plan
    tested = []
    for variable in (*(VARIABLE_OF[key] for key in plan.variables), *planned_scales(answers, plan.scales)):
        progress(f"Testing {variable.in_text}")
        result, ranking = study_variable(answers, variable, alpha=plan.alpha)
        tested.append(TestedVariable(variable, result, ranking))
    return tested


def _tested_metrics(inputs: Inputs, progress: Progress) -> tuple[tuple[ProfileLength, ...], dict[Metric, Ranking]]:
    """Every profile length, tested, and the rankings by every metric."""
    run, plan = inputs.run, inputs.plan
    lengths: list[ProfileLength] = []
    rankings: dict[Metric, Ranking] = {}
    generality = _generality(run)
    for measured in inputs.measured:
        progress(
            f"Resampling users, {f'profiles of {measured.length} ratings' if measured.length else 'whole profiles'}"
        )
        stream = rng_for(inputs.study.seed, "report", f"users-{measured.length}")
        result, by_metric = study_measured(
            measured, run.n, generality, stream, alpha=plan.alpha, resamples=plan.resamples
        )  # fmt: skip
        lengths.append(result)
        rankings |= by_metric
    return tuple(lengths), rankings


def _shown_lists(inputs: Inputs) -> ShownLists | None:
    """The metrics of the lists of analysed participants; None without participants or where items are missing."""
    slots = Slots.of(inputs.reading.analysed)
    return shown_lists(inputs.study, inputs.run, slots) if slots is not None and slots.items else None


def _lists_shown(inputs: Inputs, lists: ShownLists | None, perceived: Mapping[Variable, Ranking]) -> ListsShown | None:
    """The lists that participants saw, with every measure; None where they were not measured."""
    if lists is None:
        return None
    return lists_shown(inputs.reading.analysed, lists, perceived, alpha=inputs.plan.alpha)


def _objective(run: EvaluationRun, lengths: tuple[ProfileLength, ...]) -> ObjectiveSide:
    candidates = candidate_range(run)
    if candidates is not None and candidates.fewest >= candidates.asked:
        candidates = None
    return ObjectiveSide(
        n=run.n,
        protocol=run.protocol,
        split=run.split,
        reserve=run.reserve,
        generality=_generality(run),
        n_relevant=run.n_relevant,
        n_irrelevant=run.n_irrelevant,
        candidates=(
            Candidates(fewest=candidates.fewest, most=candidates.most, target=candidates.asked)
            if candidates is not None
            else None
        ),
        lengths=lengths,
    )


def _advantage(
    inputs: Inputs,
    perceived: Mapping[Variable, Ranking],
    objective: Mapping[Metric, Ranking],
    nested: MeanEstimates | Undefined,
) -> tuple[Advantage | None, ComparedAdvantage | None]:
    """The average advantage of the primary pair, and the same with and without exclusions; None without the pair."""
    primary, reading, alpha = inputs.plan.primary, inputs.reading, inputs.plan.alpha
    variable, metric = by_key(perceived, primary.perceived), by_key(objective, primary.objective)
    if variable is None or metric is None:
        return None, None
    ranking, bound = objective[metric], primary.smallest_effect
    advantage = advantage_of(reading.analysed, variable, ranking, nested, alpha=alpha, bound=bound)
    completers = advantage_of(reading.completers, variable, ranking, nested, alpha=alpha, bound=bound)
    return advantage, ComparedAdvantage(analysed=advantage.overall, completers=completers.overall)


def _alternatives(
    inputs: Inputs,
    perceived: Mapping[Variable, Ranking],
    objective: Mapping[Metric, Ranking],
    planned: Advantage | None,
    backgrounds: Backgrounds,
    consumed: str,
) -> tuple[Alternative, ...]:
    """The specification curve; empty without the primary pair."""
    primary = inputs.plan.primary
    variable, metric = by_key(perceived, primary.perceived), by_key(objective, primary.objective)
    if planned is None or variable is None or metric is None:
        return ()
    choices = Choices(
        variable=variable,
        metric=metric,
        reading=inputs.reading,
        rankings=objective,
        measured=inputs.measured,
        stored=inputs.metrics,
        backgrounds=backgrounds,
        consumed=consumed,
        alpha=inputs.plan.alpha,
    )
    return alternatives_of(choices, planned)


def _contrast(
    inputs: Inputs, perceived: Mapping[Variable, Ranking], objective: Mapping[Metric, Ranking]
) -> tuple[PlannedContrast | None, ComparedContrast | None]:
    """The planned contrast, and the same with and without exclusions; None where none is planned or tested."""
    primary, reading, alpha = inputs.plan.primary, inputs.reading, inputs.plan.alpha
    planned, variable = primary.planned_contrast, by_key(perceived, primary.perceived)
    if planned is None or variable is None:
        return None, None
    metric = by_key(objective, primary.objective)
    analysed = tested_contrast(reading.analysed, variable, planned, alpha)
    contrast = PlannedContrast(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        test=analysed,
        objective=None if metric is None else contrasted_metric(objective[metric], metric, planned),
    )
    completers = tested_contrast(reading.completers, variable, planned, alpha)
    return contrast, ComparedContrast(analysed=analysed, completers=completers)


def _equivalence(
    inputs: Inputs, perceived: Mapping[Variable, Ranking], contrast: PlannedContrast | None
) -> Equivalence | None:
    """The primary variable against the smallest effect of interest; None where none is planned or it is not tested."""
    primary, alpha = inputs.plan.primary, inputs.plan.alpha
    bound, variable = primary.smallest_effect, by_key(perceived, primary.perceived)
    if bound is None or variable is None:
        return None
    test = None if contrast is None else contrast.test
    return tested_equivalence(inputs.reading.analysed, variable, bound, alpha, test)


def _generality(run: EvaluationRun) -> float | None:
    """The share of relevant cases that precision uses: as the protocol states, or counted."""
    if (stated := run.protocol.get("g")) is not None:
        return float(stated)
    n_relevant, n_irrelevant = run.n_relevant or 0, run.n_irrelevant or 0
    return n_relevant / (n_relevant + n_irrelevant) if n_relevant + n_irrelevant else None
