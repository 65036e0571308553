"""Every number of a report, from what both sides were read as."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from analysis.enums import VARIABLE_OF, Metric, Variable, described_in_results
from analysis.selectors.answering import Reading
from analysis.selectors.inputs import Measured, conditions_of
from analysis.services.agreement import all_comparisons
from analysis.services.contrasts import study_contrast, tested_contrast
from analysis.services.correlations import correlations_of
from analysis.services.crossed import study_items
from analysis.services.effects import effects_of_all
from analysis.services.exclusions import with_and_without
from analysis.services.objective import study_measured
from analysis.services.perceived import items_by_condition, liking_and_interest, study_variable
from analysis.services.power import achieved_power
from analysis.services.rankings import Ranking
from analysis.services.scales import planned_scales, study_scale
from core.provenance import canonical_json, rng_for
from evaluation.models import EvaluationRun
from evaluation.selectors.candidates import candidate_range
from studies.enums import Mode
from studies.models import Study
from studies.plans import contrast_from
from studies.usage_data import is_usage, taken_from

FORMAT = 3

Progress = Callable[[str], None]


def silent(words: str) -> None:
    """Tell nobody."""


def compute(
    *,
    study: Study,
    run: EvaluationRun,
    mode: str,
    reading: Reading,
    measured: list[Measured],
    plan: dict[str, Any],
    planned: dict[str, Any],
    flow: dict[str, Any],
    is_pilot: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Every number of a report, as JSON holds it; nothing is drawn from a stream that is not named."""
    answers, alpha, resamples = reading.kept, plan["alpha"], plan["resamples"]
    variables: list[dict[str, Any]] = []
    perceived: dict[Variable, Ranking] = {}
    for variable in (*(VARIABLE_OF[key] for key in plan["variables"]), *planned_scales(answers, plan["scales"])):
        progress(f"Testing {variable.in_text}")
        stream = rng_for(study.seed, "report", variable.key)
        result, perceived[variable] = study_variable(answers, variable, stream, alpha=alpha, resamples=resamples)
        variables.append(result)
    objective: dict[Metric, Ranking] = {}
    lengths: list[dict[str, Any]] = []
    generality = _generality(run)
    for one in measured:
        progress(f"Resampling users, {f'profiles of {one.length} ratings' if one.length else 'whole profiles'}")
        stream = rng_for(study.seed, "report", f"users-{one.length}")
        result, rankings = study_measured(one, run.n, generality, stream, alpha=alpha, resamples=resamples)
        lengths.append(result)
        objective |= rankings
    progress("Measuring effects, models of single answers and correlations")
    effects = effects_of_all(answers, perceived, alpha)
    correlations = correlations_of(answers, list(perceived))
    progress("Taking items as a sample too")
    crossed = study_items(answers, alpha)
    progress("Comparing both sides")
    primary = (plan["primary"]["perceived"], plan["primary"]["objective"])
    contrast = contrast_from(plan["primary"])
    scales = [study_scale(answers, scale, plan["scales"]) for scale in answers.scales]
    planted = study.settings.get("planted_effects", {})
    candidates = candidate_range(run)
    whole = {
        "format": FORMAT,
        "study": {
            "slug": study.slug,
            "title": study.title,
            "list_length": study.settings["list_length"],
            "ratings_asked": study.settings["ratings_asked"],
            **({"taken_from": taken_from(study.settings)} if is_usage(study.dataset_version) else {}),
        },
        "mode": mode,
        **({"is_pilot": True} if is_pilot else {}),
        # Nothing where nothing was planted, so that the results of such studies stay the same bytes.
        **({"planted_effects": planted} if planted and mode == Mode.SIMULATED else {}),
        "conditions": [
            {
                "label": condition.label,
                "algorithm": condition.model.algorithm,
                "params": condition.model.params,
                "n": len(answers.of(condition.label)),
            }
            for condition in conditions_of(study)
        ],
        "plan": plan,
        "planned": planned,
        "flow": flow,
        "exclusions": with_and_without(
            reading, list(zip(perceived, variables, perceived.values(), strict=True)), objective, primary, alpha
        ),
        "answers": {
            "n": answers.n_answers,
            "n_modelled": answers.n_modelled,
            "n_true": answers.n_answers - answers.n_modelled if mode == Mode.SIMULATED else 0,
            "n_incomplete": answers.n_incomplete,
        },
        **described_in_results(*perceived),
        "variables": variables,
        "power": achieved_power(answers, study, alpha),
        "novelty_is_one_order": _is_one_order(perceived),
        "items": items_by_condition(answers, study.settings["list_length"]),
        "liking": liking_and_interest(answers),
        **effects,
        "correlations": correlations,
        "crossed": crossed,
        **({"scales": scales} if scales else {}),
        "objective": {
            "n": run.n,
            "protocol": run.protocol,
            "split": run.split,
            "reserve": run.reserve,
            "generality": generality,
            "n_relevant": run.n_relevant,
            "n_irrelevant": run.n_irrelevant,
            # Nothing where there were as many as asked for, so that the results of such runs stay the same bytes.
            **({"candidates": asdict(candidates)} if candidates and candidates.fewest < candidates.asked else {}),
            "lengths": lengths,
        },
        "comparisons": all_comparisons(perceived, objective, primary, alpha=alpha, is_tested=contrast is None),
    }
    named = next((variable for variable in perceived if variable.key == primary[0]), None)
    if contrast is not None and named is not None:
        metric = next((one for one in objective if one.key == primary[1]), None)
        whole["contrast"] = study_contrast(answers, named, metric, objective, contrast, alpha)
        if whole["exclusions"] is not None:
            everybody = tested_contrast(reading.everybody, named, contrast, alpha)
            whole["exclusions"]["contrast"] = {
                "kept": tested_contrast(answers, named, contrast, alpha),
                "everybody": everybody,
            }
    # Through JSON and back: what is drawn now and what is drawn from the stored row are the same; NaN is refused.
    plain: dict[str, Any] = json.loads(canonical_json(whole))
    return plain


def _generality(run: EvaluationRun) -> float | None:
    """The share of relevant cases that precision uses: given, or counted."""
    given = run.protocol.get("g")
    if given is not None:
        return float(given)
    n_relevant, n_irrelevant = run.n_relevant or 0, run.n_irrelevant or 0
    return n_relevant / (n_relevant + n_irrelevant) if n_relevant + n_irrelevant else None


def _is_one_order(perceived: dict[Variable, Ranking]) -> bool:
    """Whether first- and second-order novelty put the conditions in the same tiers."""
    fon, son = perceived.get(VARIABLE_OF["fon"]), perceived.get(VARIABLE_OF["son"])
    return fon is not None and son is not None and dict(fon.order.tiers) == dict(son.order.tiers)
