"""Compute every number of a report from the answers and the run's measurements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.compute import comparison as both_sides
from analysis.compute.choices import choices_by_condition
from analysis.compute.covariates import covariate_analyses
from analysis.compute.exclusions import TestedVariable, by_key, with_and_without
from analysis.compute.factorial import factorial_of
from analysis.compute.follow_up import achieved_power, correlations_of, effects_of_all, nested_model
from analysis.compute.lists_shown import doses, lists_shown
from analysis.compute.objective import offline_effects, pooled_repeats, study_measured
from analysis.compute.perceived import (
    constructs_of,
    items_by_condition,
    liking_and_interest,
    planned_variables,
    study_scale,
    study_variable,
)
from analysis.compute.sample import described_sample, design_checks
from analysis.compute.side_by_side import preferences_of
from analysis.enums import Metric, Variable, scale_variables
from analysis.read import Progress, no_progress
from analysis.read.inputs import Measured, conditions_of, origin_warnings, recommenders_of
from analysis.read.lists import Slots, shown_lists
from analysis.read.metrics import Repetitions, StoredMetric
from analysis.read.responses import Reading, median_profile_length
from analysis.read.sample import Backgrounds, Opened, backgrounds_of
from analysis.results.codec import encode
from analysis.results.comparison import PlannedContrast
from analysis.results.exclusions import ComparedAdvantage, ComparedContrast
from analysis.results.objective import Candidates, ObjectiveSide, ProfileLength
from analysis.results.plan import Planned, ReportPlan
from analysis.results.rankings import Ranking
from analysis.results.report import AnswerCounts, ConditionFacts, ItemWords, Results, StudyFacts
from analysis.results.sample import Flow
from catalog.item_types import FALLBACK_LANGUAGE
from core.provenance import canonical_json, rng_for
from evaluation.enums import ModelOrigin
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.reported_kinds import tested_kinds
from evaluation.selectors.cases import candidate_range
from evaluation.selectors.models import algorithm_of
from evaluation.selectors.title_words import learns_from_titles_alone
from inference.average_advantage import MeanEstimates
from inference.results import Undefined
from studies.design.selectors.placeholders import asked_questions, item_words
from studies.enums import Mode
from studies.instrument.flow import questionnaire_of
from studies.instrument.questionnaires.core import measures_of
from studies.models import Study
from studies.participation.selectors.choices import Chosen
from studies.settings import PERCEIVED
from studies.usage_data import CHOICE, is_usage


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
    choices: Mapping[int, Chosen] = field(default_factory=dict)  # by the participant's key


def compute(inputs: Inputs, progress: Progress = no_progress) -> dict[str, Any]:
    """Every number of a report, as JSON values; every random draw is from a named stream."""
    study, answers, alpha = inputs.study, inputs.reading.analysed, inputs.plan.alpha
    recommenders = recommenders_of(study)
    consumed = item_words(study.design, FALLBACK_LANGUAGE).consumed
    has_trailers = study.design.kind_of_item.has_trailers and study.design.offers_samples
    tested = _tested_variables(inputs, progress)
    perceived = {test.variable: test.ranking for test in tested}
    lengths, objective = _tested_metrics(inputs, progress)
    rng = rng_for(study.seed, "report", "preferences")
    preferences = preferences_of(
        answers, inputs.plan.primary.perceived, rng, alpha=alpha, resamples=inputs.plan.resamples
    )
    ranked = perceived | {variable: ranking for variable, (_result, ranking) in preferences.items()}
    progress("Computing effect sizes, ordinal models and correlations")
    effects, scale_effects = effects_of_all(answers, perceived, alpha)
    correlations, novelty = correlations_of(answers, list(perceived))
    progress("Generalising over items")
    nested, nested_means = nested_model(answers, alpha)
    progress("Measuring the lists shown")
    slots = Slots.of(answers)
    lists = shown_lists(study, inputs.run, slots) if slots is not None and slots.items else None
    progress("Adjusting for covariates and losses")
    backgrounds = backgrounds_of(study, inputs.reading.keys, inputs.plan.covariates)
    covariates = covariate_analyses(
        study,
        inputs.reading,
        inputs.flow,
        lists=lists,
        consumed=consumed,
        tested=list(perceived),
        primary=by_key(perceived, inputs.plan.primary.perceived),
        backgrounds=backgrounds,
        alpha=alpha,
    )
    progress("Comparing both sides")
    pair = (inputs.plan.primary.perceived, inputs.plan.primary.objective)
    comparisons = both_sides.all_comparisons(
        ranked,
        objective,
        pair,
        recommenders=recommenders,
        alpha=alpha,
        is_tested=inputs.plan.primary_test == "rank correlation",
    )
    of_primary, with_exclusions = _of_primary(inputs, perceived, objective, nested_means, backgrounds, consumed)
    exploratory = both_sides.exploratory_of(answers, perceived, objective, pair, alpha=alpha)
    progress("Comparing every metric with every measure")
    matrix = both_sides.comparison_matrix(inputs.metrics, ranked, comparisons, recommenders=recommenders, alpha=alpha)
    n_analysed = {condition.condition: condition.analysed for condition in inputs.flow.by_condition}
    n_analysed |= {name: answers.n_judges(name) for name in answers.conditions if answers.judged}
    conditions = [
        ConditionFacts(
            label=condition.label,
            algorithm=condition.model.algorithm,
            params=condition.model.params,
            n=n_analysed[condition.label],
            is_of_titles=learns_from_titles_alone(study.dataset_version, condition.model),
            reads_order=_reads_order(condition.model),
            recommender=recommenders.get(condition.label, ""),
        )
        for condition in conditions_of(study)
    ]
    presentations = {condition.label: condition.presentation for condition in conditions_of(study)}
    compared = tuple(facts for facts in conditions if facts.label in answers.conditions)
    shown = None if lists is None else lists_shown(answers, lists, perceived, alpha=alpha)
    measures = measures_of(questionnaire_of(study))
    design, requested, chooses = study.design, study.design.items_asked, study.design.is_choice
    results = Results(
        study=StudyFacts(
            slug=study.slug,
            title=study.title,
            list_length=design.longest_list,
            listed=design.listed if len(design.list_lengths) > 1 else None,
            ratings_asked=requested.fewest,
            taken_from=design.lowest_taken if is_usage(study.dataset_version) and not chooses else None,
            words=ItemWords.of(consumed, has_trailers=has_trailers),
            elicitation=CHOICE if chooses else None,
            elicitation_scale=design.elicitation_scale if "elicitation_scale" in design.model_fields_set else None,
            ratings_most=requested.most if requested.is_range else None,
            ratings_median=median_profile_length(inputs.reading.keys) if requested.is_range else None,
            not_asked=tuple(key for key in PERCEIVED if key not in measures),
        ),
        mode=inputs.mode,
        is_pilot=inputs.is_pilot,
        planted_effects=design.planted_effects if inputs.mode == Mode.SIMULATED else {},
        conditions=compared,
        left_out=tuple(facts for facts in conditions if facts.label not in answers.conditions),
        plan=inputs.plan,
        planned=inputs.planned,
        flow=inputs.flow,
        exclusions=with_and_without(
            inputs.reading, tested, objective, pair, recommenders=recommenders, alpha=alpha, **with_exclusions
        ),
        sample=described_sample(inputs.reading, asked_questions(study), inputs.opened, study.seed),
        answers=AnswerCounts(
            n=answers.n_answers,
            n_modelled=answers.n_modelled,
            n_true=answers.n_answers - answers.n_modelled if inputs.mode == Mode.SIMULATED else 0,
            n_incomplete=answers.n_incomplete,
        ),
        scale_variables=scale_variables(ranked),
        variables=tuple(test.result for test in tested),
        power=None if preferences else achieved_power(answers, study, alpha),
        items=() if preferences else items_by_condition(answers, design.longest_list),
        liking=() if preferences else liking_and_interest(answers),
        effects=effects,
        scale_effects=scale_effects,
        correlations=correlations,
        novelty=novelty,
        nested=nested,
        scales=tuple(study_scale(answers, scale, inputs.plan.scales) for scale in answers.scales),
        constructs=constructs_of(answers, rng_for(study.seed, "report", "constructs"), progress),
        covariates=covariates,
        lists_shown=shown,
        choices=choices_by_condition(inputs.reading, inputs.choices),
        doses=() if shown is None else doses(shown, compared, presentations),
        objective=_objective(inputs, lengths),
        offline_effects=offline_effects(lengths, tested_kinds(inputs.run.protocol)),
        repeats=pooled_repeats(inputs.repetitions, study.seed, alpha=alpha, resamples=inputs.plan.resamples),
        comparisons=comparisons,
        matrix=matrix,
        exploratory=exploratory,
        factorial=factorial_of(
            answers, conditions_of(study), perceived, pair[0], inputs.plan.primary.planned_effect, alpha=alpha
        ),
        design_checks=None if preferences else design_checks(inputs.reading, inputs.opened),
        preferences=tuple(result for result, _ranking in preferences.values()),
        **of_primary,
    )
    # Through JSON and back: drawing now and drawing from the stored row give the same; NaN is refused.
    plain: dict[str, Any] = json.loads(canonical_json(encode(Results, results)))
    return plain


def _reads_order(model: TrainedModel) -> bool:
    if model.origin == ModelOrigin.REMOTE:
        return True  # it is sent
    kind = algorithm_of(model)
    return kind is not None and kind.reads_order() and not kind.is_partial  # lists are found by their key


def _tested_variables(inputs: Inputs, progress: Progress) -> list[TestedVariable]:
    answers, plan = inputs.reading.analysed, inputs.plan
    tested = []
    for variable in () if answers.judged else planned_variables(answers, plan):
        progress(f"Testing {variable.in_text}")
        result, ranking = study_variable(answers, variable, alpha=plan.alpha)
        tested.append(TestedVariable(variable, result, ranking))
    return tested


def _tested_metrics(inputs: Inputs, progress: Progress) -> tuple[tuple[ProfileLength, ...], dict[Metric, Ranking]]:
    run, plan = inputs.run, inputs.plan
    lengths: list[ProfileLength] = []
    rankings: dict[Metric, Ranking] = {}
    generality = _generality(run)
    for measured in inputs.measured:
        profiles = f"profiles of {measured.length} ratings" if measured.length else "whole profiles"
        progress(f"Resampling users, {profiles}")
        stream = rng_for(inputs.study.seed, "report", f"users-{measured.length}")
        result, by_metric = study_measured(
            measured, run.n, generality, stream, alpha=plan.alpha, resamples=plan.resamples
        )
        lengths.append(result)
        rankings |= by_metric
    return tuple(lengths), rankings


def _objective(inputs: Inputs, lengths: tuple[ProfileLength, ...]) -> ObjectiveSide:
    run = inputs.run
    candidates = candidate_range(run)
    return ObjectiveSide(
        n=run.n,
        protocol=run.protocol,
        split=run.split,
        reserve=run.reserve,
        generality=_generality(run),
        n_relevant=run.n_relevant,
        n_irrelevant=run.n_irrelevant,
        candidates=(
            Candidates(fewest=candidates.fewest, most=candidates.most, target=candidates.requested)
            if candidates is not None and candidates.fewest < candidates.requested
            else None
        ),
        lengths=lengths,
        warnings=origin_warnings(inputs.study, run),
    )


def _of_primary(
    inputs: Inputs,
    perceived: Mapping[Variable, Ranking],
    objective: Mapping[Metric, Ranking],
    nested: MeanEstimates | Undefined,
    backgrounds: Backgrounds,
    consumed: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results on the primary pair by the fields that hold them, and those with and without exclusions."""
    primary, reading, alpha = inputs.plan.primary, inputs.reading, inputs.plan.alpha
    variable, metric = by_key(perceived, primary.perceived), by_key(objective, primary.objective)
    bound, planned = primary.smallest_effect, primary.planned_contrast
    recommenders = recommenders_of(inputs.study)
    by_field: dict[str, Any] = {}
    compared: dict[str, Any] = {}
    if variable is None:
        return by_field, compared
    contrast = None
    if planned is not None:
        contrast, over_all = (both_sides.tested_contrast(side, variable, planned, alpha) for side in reading.sides)
        by_field["contrast"] = PlannedContrast(
            variable_key=variable.key,
            scale_variables=scale_variables([variable]),
            test=contrast,
            objective=None if metric is None else both_sides.contrasted_metric(objective[metric], metric, planned),
        )
        compared["contrast"] = ComparedContrast(analysed=contrast, completers=over_all)
    if bound is not None:
        by_field["equivalence"] = both_sides.tested_equivalence(reading.analysed, variable, bound, alpha, contrast)
    if metric is not None:
        advantage, of_completers = (
            both_sides.advantage_of(
                side, variable, objective[metric], nested, recommenders=recommenders, alpha=alpha, bound=bound
            )
            for side in reading.sides
        )
        choices = both_sides.Choices(
            variable=variable,
            metric=metric,
            reading=reading,
            rankings=objective,
            measured=inputs.measured,
            stored=inputs.metrics,
            backgrounds=backgrounds,
            consumed=consumed,
            alpha=alpha,
        )
        by_field |= {"advantage": advantage, "alternatives": both_sides.alternatives_of(choices, advantage)}
        compared["advantage"] = ComparedAdvantage(analysed=advantage.overall, completers=of_completers.overall)
    return by_field, compared


def _generality(run: EvaluationRun) -> float | None:
    """The share of relevant cases that precision uses: as the protocol states, or counted."""
    if (stated := run.protocol.get("g")) is not None:
        return float(stated)
    n_relevant, n_irrelevant = run.n_relevant or 0, run.n_irrelevant or 0
    return n_relevant / (n_relevant + n_irrelevant) if n_relevant + n_irrelevant else None
