"""Build a report: read both sides, compute every number once, store it under the hash of its inputs."""

from __future__ import annotations

import logging
from importlib import metadata
from typing import Any

from django.db import transaction

from analysis.models import Report
from analysis.selectors.answering import flow_of, mode_to_report, read_answers
from analysis.selectors.inputs import Answers, Measured, conditions_of, measured_by, positions_in
from analysis.selectors.plans import frozen_plan
from analysis.services.computing import FORMAT, Progress, compute, silent
from analysis.services.deviations import deviations
from analysis.services.plans import AS_PLANNED, Overrides, plan_of
from core.errors import ParallaxError
from core.provenance import derived_seed, digest_of, versions
from core.transitions import record
from evaluation.models import EvaluationRun
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Study
from studies.plans import SCALE_PREFIX
from studies.selectors.left_out import left_out
from studies.services.blinding import note_opened_by
from studies.services.launch import draft_snapshot

logger = logging.getLogger(__name__)

REPORTABLE = (Mode.LIVE, Mode.SIMULATED)
NUMERIC = ("parallax", "python", "numpy", "scipy")  # whose versions numbers depend on


def build_report(
    *,
    study: Study,
    run: EvaluationRun | None = None,
    mode: str | None = None,
    overrides: Overrides = AS_PLANNED,
    made_by: Any = None,
    progress: Progress = silent,
) -> Report:
    """Compute the report of a study from a run of its own models (by default the run it was made from).

    Without a `mode` people are reported where any have completed, else simulated participants. It follows the plan
    that the launch froze but for `overrides`, and says what deviates. The same inputs give the report that is there
    already. A report on people who still take part opens the outcomes, and that is logged; pages and programs ask
    `require_open_answers` before.

    The report of a draft is a pilot on simulated participants: it follows the plan as it stands, says in every form
    that it is a pilot, and is out of date once the design changes or the study is launched.

    Raises `report.not_launched` (a draft without simulated participants, or asked for people),
    `report.unknown_mode`, `report.run_not_finished`, `run.other_protocol`, `run.many_models`,
    `report.models_differ`, `report.bad_plan`.
    """
    is_pilot = study.status == StudyStatus.DRAFT
    chosen_mode = _mode_of_pilot(study, mode) if is_pilot else mode or mode_to_report(study)
    if chosen_mode not in REPORTABLE:
        raise ParallaxError(
            "report.unknown_mode", f"A report is on live or simulated participants; got {chosen_mode!r}."
        )
    chosen_run = run or study.run
    positions = positions_in(study, chosen_run)
    draft = draft_snapshot(study) if is_pilot else None
    frozen = frozen_plan(study, draft)
    plan = plan_of(frozen, chosen_run, overrides)
    progress("Reading what participants answered")
    out = left_out(study, [chosen_mode], by_hand=plan["by_hand"], rule=plan["exclude"])
    reading = read_answers(study, chosen_mode, out)
    flow = flow_of(study, chosen_mode, reading)
    progress("Reading what the run measured")
    lengths = (0, *chosen_run.profile_lengths)
    measured = [measured_by(chosen_run, reading.kept.conditions, positions, length) for length in lengths]
    provenance = _provenance(study, chosen_run, chosen_mode, reading.kept, measured, plan)
    if draft is not None:
        provenance["pilot_design"] = digest_of(draft)
    if reading.n_left_out:
        provenance["everybody_digest"] = reading.everybody.digest
    planned = {
        "is_frozen": frozen.is_frozen,
        "plan": frozen.plan,
        "deviations": deviations(
            frozen=frozen, plan=plan, run=chosen_run, flow=flow, versions=provenance["versions"]
        ),
    }  # fmt: skip
    inputs_hash = digest_of(
        {
            "format": FORMAT, "plan": plan, "planned": planned, "provenance": provenance, "flow": flow,
            "study": study.slug,
        }
    )  # fmt: skip
    found = Report.objects.filter(study=study, inputs_hash=inputs_hash).first()
    if found is not None:
        progress("Nothing has changed since this report was made")
        return found
    results = compute(
        study=study, run=chosen_run, mode=chosen_mode, reading=reading, measured=measured, plan=plan,
        planned=planned, flow=flow, is_pilot=is_pilot, progress=progress,
    )  # fmt: skip
    progress("Storing the report")
    report = _stored(
        study=study, run=chosen_run, mode=chosen_mode, inputs_hash=inputs_hash, plan=plan, results=results,
        provenance=provenance, is_pilot=is_pilot, made_by=made_by,
    )  # fmt: skip
    logger.info("built report=%s study=%s mode=%s", report.number, study.slug, chosen_mode)
    return report


def _mode_of_pilot(study: Study, mode: str | None) -> str:
    """Simulated participants: nobody else walks a draft."""
    if mode == Mode.LIVE:
        raise ParallaxError(
            "report.not_launched",
            f"The study {study.slug} is still a draft, so that no participants can have taken part. Launch it first, "
            "or build a pilot report on simulated participants.",
        )
    walked = study.participants.filter(mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED)
    if not walked.exists():
        raise ParallaxError(
            "report.not_launched",
            f"The study {study.slug} is still a draft. For a pilot report let simulated participants walk it first "
            f"(.venv/bin/python manage.py simulate_participants {study.slug}); for a report launch it.",
        )
    return mode or Mode.SIMULATED


def _provenance(
    study: Study, run: EvaluationRun, mode: str, answers: Answers, measured: list[Measured], plan: dict[str, Any]
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
        "bootstrap_seeds": [[name, derived_seed(study.seed, "report", name)] for name in _streams(measured, plan)],
        "versions": [*([name, installed[name]] for name in NUMERIC), ["statsmodels", metadata.version("statsmodels")]],
    }


def _streams(measured: list[Measured], plan: dict[str, Any]) -> list[str]:
    scales = (f"{SCALE_PREFIX}{key}" for key in plan["scales"])
    return [*plan["variables"], *scales, *(f"users-{one.length}" for one in measured)]


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
    is_pilot: bool,
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
            "is_pilot": is_pilot,
            "made_by": made_by,
        },
    )
    note_opened_by(study=locked, modes=[mode])
    if is_new:
        is_live = mode == Mode.LIVE
        reason = "A report opened the outcomes." if is_live else "A report on simulated participants was built."
        if is_pilot:
            reason = "A pilot report on simulated participants was built from the draft."
        facts = {"report": report.number, "mode": mode, "n": results["flow"]["analysed"]}
        record(locked, reason=reason, actor=made_by, **facts)
    return report
