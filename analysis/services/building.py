"""Build a report: read both sides, compute every number once, store it under the hash of its inputs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction

from analysis.enums import VARIABLE_OF, VARIABLES, Metric, Variable
from analysis.models import Report
from analysis.selectors.inputs import (
    Answers,
    Measured,
    answers_of,
    conditions_of,
    flow_of,
    measured_by,
    mode_to_report,
    positions_in,
)
from analysis.services.agreement import all_comparisons
from analysis.services.objective import study_measured
from analysis.services.perceived import items_by_condition, liking_and_interest, study_variable
from analysis.services.rankings import ALPHA, RESAMPLES, Ranking
from analysis.services.scales import study_scale
from core.errors import ParallaxError
from core.models import LogEntry
from core.provenance import canonical_json, derived_seed, digest_of, rng_for, versions
from evaluation.models import EvaluationRun
from studies.enums import Mode, StudyStatus
from studies.models import Study

logger = logging.getLogger(__name__)

FORMAT = 1
REPORTABLE = (Mode.LIVE, Mode.SIMULATED)
NUMERIC = ("parallax", "python", "numpy", "scipy")  # whose versions numbers depend on

Progress = Callable[[str], None]


def _silent(words: str) -> None:
    """Tell nobody."""


def build_report(
    *,
    study: Study,
    run: EvaluationRun | None = None,
    mode: str | None = None,
    made_by: Any = None,
    progress: Progress = _silent,
) -> Report:
    """Compute the report of a study from a run of its own models (by default the run it was made from).

    Without a `mode` people are reported where any have completed, else simulated participants. The same
    inputs give the report that is there already. Opening the outcomes of a study that people still take part
    in is logged.

    Raises `report.not_launched`, `report.unknown_mode`, `report.run_not_finished`, `report.models_differ`.
    """
    if study.status == StudyStatus.DRAFT:
        raise ParallaxError(
            "report.not_launched",
            f"The study {study.slug} is still a draft: launch it first, so that its design is frozen.",
        )
    chosen_mode = mode or mode_to_report(study)
    if chosen_mode not in REPORTABLE:
        raise ParallaxError(
            "report.unknown_mode", f"A report is on live or simulated participants; got {chosen_mode!r}."
        )
    chosen_run = run or study.run
    positions = positions_in(study, chosen_run)
    progress("Reading what participants answered")
    answers = answers_of(study, chosen_mode)
    flow = flow_of(study, chosen_mode, answers)
    progress("Reading what the run measured")
    lengths = (0, *chosen_run.profile_lengths)
    measured = [measured_by(chosen_run, answers.conditions, positions, length) for length in lengths]
    plan = plan_of(study, chosen_run)
    provenance = _provenance(study, chosen_run, chosen_mode, answers, measured)
    inputs_hash = digest_of(
        {"format": FORMAT, "plan": plan, "provenance": provenance, "flow": flow, "study": study.slug}
    )
    found = Report.objects.filter(study=study, inputs_hash=inputs_hash).first()
    if found is not None:
        progress("Nothing has changed since this report was made")
        return found
    results = compute(
        study=study, run=chosen_run, mode=chosen_mode, answers=answers, measured=measured, plan=plan,
        flow=flow, progress=progress,
    )  # fmt: skip
    report = _stored(
        study=study, run=chosen_run, mode=chosen_mode, inputs_hash=inputs_hash, plan=plan, results=results,
        provenance=provenance, made_by=made_by,
    )  # fmt: skip
    logger.info("built report=%s study=%s mode=%s", report.number, study.slug, chosen_mode)
    return report


def plan_of(study: Study, run: EvaluationRun) -> dict[str, Any]:
    """What is tested and how, as the study's frozen design names it."""
    primary = study.settings.get("primary") or {"perceived": "accuracy", "objective": "recall"}
    return {
        "alpha": ALPHA,
        "resamples": RESAMPLES,
        "variables": [variable.key for variable in VARIABLES],
        "metrics": [
            Metric(kind, length, run.n).key for length in (0, *run.profile_lengths) for kind in ("recall", "fallout")
        ],
        "n": run.n,
        "primary": {"perceived": primary["perceived"], "objective": primary["objective"]},
    }


def _provenance(
    study: Study, run: EvaluationRun, mode: str, answers: Answers, measured: list[Measured]
) -> dict[str, Any]:
    installed = versions()
    return {
        "design_hash": study.design_hash,
        "dataset": study.dataset_version.dataset.name,
        "dataset_version": study.dataset_version.number,
        "dataset_hash": study.dataset_version.content_hash,
        "is_dataset_synthetic": study.dataset_version.is_synthetic,
        "models": [
            {"condition": condition.label, "digest": condition.model_digest} for condition in conditions_of(study)
        ],
        "answers_digest": answers.digest,
        "run_inputs_hash": run.inputs_hash,
        "run_cases_digest": run.cases_digest,
        "run_results": [
            {"profile_length": one.length, "condition": name, "digest": digest}
            for one in measured
            for name, digest in one.digests.items()
        ],
        "mode": mode,
        "study_seed": study.seed,
        "run_seed": run.seed,
        "bootstrap_seeds": [[name, derived_seed(study.seed, "report", name)] for name in _streams(measured)],
        "versions": [[name, installed[name]] for name in NUMERIC],
    }


def _streams(measured: list[Measured]) -> list[str]:
    return [*(variable.key for variable in VARIABLES), *(f"users-{one.length}" for one in measured)]


def compute(
    *,
    study: Study,
    run: EvaluationRun,
    mode: str,
    answers: Answers,
    measured: list[Measured],
    plan: dict[str, Any],
    flow: dict[str, Any],
    progress: Progress = _silent,
) -> dict[str, Any]:
    """Every number of a report, as JSON holds it; nothing is drawn from a stream that is not named."""
    variables: list[dict[str, Any]] = []
    perceived: dict[Variable, Ranking] = {}
    for variable in VARIABLES:
        progress(f"Testing {variable.in_text}")
        result, perceived[variable] = study_variable(answers, variable, rng_for(study.seed, "report", variable.key))
        variables.append(result)
    objective: dict[Metric, Ranking] = {}
    lengths: list[dict[str, Any]] = []
    generality = _generality(run)
    for one in measured:
        progress(f"Resampling users, {f'profiles of {one.length} ratings' if one.length else 'whole profiles'}")
        result, rankings = study_measured(one, run.n, generality, rng_for(study.seed, "report", f"users-{one.length}"))
        lengths.append(result)
        objective |= rankings
    progress("Comparing both sides")
    primary = (plan["primary"]["perceived"], plan["primary"]["objective"])
    planted = study.settings.get("planted_effects", {})
    whole = {
        "format": FORMAT,
        "study": {
            "slug": study.slug,
            "title": study.title,
            "list_length": study.settings["list_length"],
            "ratings_asked": study.settings["ratings_asked"],
        },
        "mode": mode,
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
        "flow": flow,
        "answers": {
            "n": answers.n_answers,
            "n_modelled": answers.n_modelled,
            "n_true": answers.n_answers - answers.n_modelled if mode == Mode.SIMULATED else 0,
            "n_incomplete": answers.n_incomplete,
        },
        "variables": variables,
        "novelty_is_one_order": _is_one_order(perceived[VARIABLE_OF["fon"]], perceived[VARIABLE_OF["son"]]),
        "items": items_by_condition(answers, study.settings["list_length"]),
        "liking": liking_and_interest(answers),
        **({"scales": [study_scale(answers, scale) for scale in answers.scales]} if answers.scales else {}),
        "objective": {
            "n": run.n,
            "protocol": run.protocol,
            "split": run.split,
            "reserve": run.reserve,
            "generality": generality,
            "n_relevant": run.n_relevant,
            "n_irrelevant": run.n_irrelevant,
            "lengths": lengths,
        },
        "comparisons": all_comparisons(perceived, objective, primary),
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


def _is_one_order(fon: Ranking, son: Ranking) -> bool:
    """Whether first- and second-order novelty put the conditions in the same tiers."""
    return dict(fon.order.tiers) == dict(son.order.tiers)


@transaction.atomic
def _stored(
    *,
    study: Study,
    run: EvaluationRun,
    mode: str,
    inputs_hash: str,
    plan: dict[str, Any],
    results: dict[str, Any],
    provenance: dict[str, Any],
    made_by: Any,
) -> Report:
    """Write the report under the study's next number, unless somebody else has just written the same."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    newest = Report.objects.filter(study=locked).order_by("-number").first()
    report, is_new = Report.objects.get_or_create(
        study=locked,
        inputs_hash=inputs_hash,
        defaults={
            "run": run,
            "number": newest.number + 1 if newest else 1,
            "mode": mode,
            "plan": plan,
            "results": results,
            "provenance": provenance,
            "made_by": made_by,
        },
    )
    if is_new:
        LogEntry.objects.create(
            actor=made_by,
            kind="studies.study",
            object_id=locked.pk,
            from_status=locked.status,
            to_status=locked.status,
            reason="A report opened the outcomes.",
            facts={"report": report.number, "mode": mode, "n": results["flow"]["analysed"]},
        )
    return report
