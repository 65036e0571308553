"""Build a report: read both sides, compute every number once, store the report under the hash of its inputs."""

from __future__ import annotations

import logging
from importlib import metadata
from typing import Any

from django.db import transaction

from analysis.compute.computation import Inputs, compute
from analysis.compute.plans import AS_PLANNED, Overrides, deviations, plan_of
from analysis.models import Report
from analysis.read import Progress, no_progress
from analysis.read.inputs import conditions_of, measured_by, positions_in
from analysis.read.metrics import repetitions_of, stored_metrics
from analysis.read.plans import frozen_plan
from analysis.read.responses import flow_of, mode_to_report, read_answers, read_comparisons
from analysis.read.sample import opened_by, sample_digest
from analysis.results.codec import encode
from analysis.results.plan import Planned, ReportPlan
from analysis.results.report import FEWEST_ANALYSED, FORMAT, ConditionDigest, Provenance, RunDigest
from analysis.results.sample import Flow
from analysis.services.bayesian_jobs import request_bayesian
from core.errors import ParallaxError
from core.provenance import derived_seed, digest_of, versions
from core.transitions import record
from evaluation.models import EvaluationRun
from studies.design.services.launch import draft_snapshot
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.flow_pages import SIDE_BY_SIDE
from studies.models import Study
from studies.monitoring.selectors.exclusions import exclusions
from studies.monitoring.services.blinding import note_opened_by
from studies.participation.selectors.choices import choices_of

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
    progress: Progress = no_progress,
) -> Report:
    """Compute the report of a study from a run of its own models (by default the run it was created from).

    Without a `mode` the report is on people if any have completed the study, else on simulated participants. It follows
    the plan that the launch froze but for `overrides`, and states every deviation. The same inputs return the existing
    report. A report on people who still take part unblinds the outcomes, and that is logged; pages and the API call
    `require_open_answers` first.

    The report of a draft is a pilot on simulated participants: it follows the plan of the draft, says in every format
    that it is a pilot, and is out of date once the design changes or the study is launched.

    Raises `report.not_launched` (a draft without simulated participants, or a report on people of a draft),
    `report.unknown_mode`, `report.no_participants`, `report.run_not_finished`, `run.other_protocol`, `run.many_models`,
    `report.models_differ`, `report.bad_plan`.
    """
    is_pilot = study.status == StudyStatus.DRAFT
    report_mode = _mode_of_pilot(study, mode) if is_pilot else mode or mode_to_report(study)
    if report_mode not in REPORTABLE:
        raise ParallaxError(
            "report.unknown_mode", f"A report is on live or simulated participants; got {report_mode!r}."
        )
    draft = draft_snapshot(study) if is_pilot else None
    inputs, provenance = _read(
        study=study,
        run=run or study.run,
        mode=report_mode,
        overrides=overrides,
        draft=draft,
        progress=progress,
    )
    if not inputs.flow.analysed:
        raise ParallaxError("report.no_participants", _why_empty(inputs))
    hashed = {
        "format": FORMAT,
        "plan": encode(ReportPlan, inputs.plan),
        "planned": encode(Planned, inputs.planned),
        "provenance": encode(Provenance, provenance),
        "flow": encode(Flow, inputs.flow),
        "study": inputs.study.slug,
    }
    inputs_hash = digest_of(hashed)
    report = Report.objects.filter(study=study, inputs_hash=inputs_hash).first()
    if report is not None:
        progress("The inputs of this report have not changed")
        return report
    results = compute(inputs, progress)
    progress("Storing the report")
    report = _stored(inputs, provenance, inputs_hash=inputs_hash, results=results, made_by=made_by)
    logger.info("built report=%s study=%s mode=%s", report.number, study.slug, report_mode)
    return report


def _read(
    *,
    study: Study,
    run: EvaluationRun,
    mode: str,
    overrides: Overrides,
    draft: dict[str, Any] | None,
    progress: Progress,
) -> tuple[Inputs, Provenance]:
    positions = positions_in(study, run)
    frozen = frozen_plan(study, draft)
    plan = plan_of(frozen, run, overrides)
    progress("Reading the answers")
    is_side_by_side = study.design.flow.lists.shown == SIDE_BY_SIDE
    read = read_comparisons if is_side_by_side else read_answers
    reading = read(study, mode, exclusions(study, [mode], by_hand=plan.by_hand, rule=plan.exclude))
    flow = flow_of(study, mode, reading)
    # Whoever meets all conditions is not left out with one that has few.
    compared = list(reading.analysed.conditions) if is_side_by_side else _compared(flow)
    positions = [at for at, name in zip(positions, reading.analysed.conditions, strict=True) if name in compared]
    reading = reading.among(compared)
    opened, choices = opened_by(study, mode), choices_of(study, mode)
    progress("Reading the results of the run")
    lengths = (0, *run.profile_lengths)
    measured = tuple(measured_by(run, reading.analysed.conditions, positions, length) for length in lengths)
    repetitions = repetitions_of(run, reading.analysed.conditions, positions)
    stored = stored_metrics(study, run, reading.analysed.conditions, positions)
    streams = (*(f"users-{length.length}" for length in measured), *(["preferences"] * is_side_by_side))
    installed = versions()
    provenance = Provenance(
        design_hash=study.design_hash,
        dataset=study.dataset_version.dataset.name,
        dataset_version=study.dataset_version.number,
        dataset_hash=study.dataset_version.content_hash,
        is_dataset_synthetic=study.dataset_version.is_synthetic,
        models=tuple(
            ConditionDigest(condition=condition.label, digest=condition.model_digest)
            for condition in conditions_of(study)
        ),
        answers_digest=reading.analysed.digest,
        run_inputs_hash=run.inputs_hash,
        run_cases_digest=run.cases_digest,
        run_results=tuple(
            RunDigest(profile_length=length.length, condition=name, digest=digest)
            for length in measured
            for name, digest in length.digests.items()
        ),
        mode=mode,
        study_seed=study.seed,
        run_seed=run.seed,
        bootstrap_seeds=tuple((name, derived_seed(study.seed, "report", name)) for name in streams),
        versions=(*((name, installed[name]) for name in NUMERIC), ("statsmodels", metadata.version("statsmodels"))),
        pilot_design="" if draft is None else digest_of(draft),
        completers_digest=reading.completers.digest if reading.n_left_out else "",
        repetitions=() if repetitions is None else repetitions.digests,
        metric_runs=stored.digests,
        sample_digest=sample_digest(reading.respondents, reading.keys, opened, choices),
    )
    planned = Planned(
        is_frozen=frozen.is_frozen,
        plan=frozen.plan,
        deviations=deviations(frozen=frozen, plan=plan, run=run, flow=flow, versions=provenance.versions),
    )
    inputs = Inputs(
        study=study,
        run=run,
        mode=mode,
        reading=reading,
        measured=measured,
        plan=plan,
        planned=planned,
        flow=flow,
        metrics=stored.metrics,
        opened=opened,
        is_pilot=draft is not None,
        repetitions=repetitions,
        choices=choices,
    )
    return inputs, provenance


def _compared(flow: Flow) -> list[str]:
    """The conditions with enough analysed participants; all of them where fewer than two have enough."""
    enough = [line.condition for line in flow.by_condition if line.analysed >= FEWEST_ANALYSED]
    return enough if len(enough) >= 2 else [line.condition for line in flow.by_condition]


def _why_empty(inputs: Inputs) -> str:
    people = "simulated participant" if inputs.mode == Mode.SIMULATED else "participant"
    if n := inputs.flow.completed:
        verb = "has" if n == 1 else "have"
        return (
            f"{n} {people}{'' if n == 1 else 's'} of {inputs.study.slug} {verb} completed the study, and none is "
            "analysed: their answers are incomplete, or they are excluded. Change the exclusions to build a report."
        )
    return f"No {people} of {inputs.study.slug} has completed the study, so there is nothing to report yet."


def _mode_of_pilot(study: Study, mode: str | None) -> str:
    """Simulated participants: only they can take part in a draft."""
    if mode == Mode.LIVE:
        raise ParallaxError(
            "report.not_launched",
            f"The study {study.slug} is still a draft, so no participants can have taken part. Launch it first, "
            "or build a pilot report on simulated participants.",
        )
    walked = study.participants.filter(mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED)
    if not walked.exists():
        raise ParallaxError(
            "report.not_launched",
            f"The study {study.slug} is still a draft. For a pilot report, run simulated participants first "
            f"(.venv/bin/python manage.py simulate_participants {study.slug}); for a report, launch it.",
        )
    return mode or Mode.SIMULATED


@transaction.atomic
def _stored(
    inputs: Inputs, provenance: Provenance, *, inputs_hash: str, results: dict[str, Any], made_by: Any
) -> Report:
    """Write the report under the study's next number, unless another process has just written the same."""
    mode, is_pilot = inputs.mode, inputs.is_pilot
    study = Study.objects.select_for_update().get(pk=inputs.study.pk)
    newest = Report.objects.filter(study=study).order_by("-number").first()
    report, is_new = Report.objects.get_or_create(
        study=study,
        inputs_hash=inputs_hash,
        defaults={
            "run": inputs.run,
            "number": newest.number + 1 if newest else 1,
            "mode": mode,
            "plan": encode(ReportPlan, inputs.plan),
            "results": results,
            "provenance": encode(Provenance, provenance),
            "is_pilot": is_pilot,
            "made_by": made_by,
        },
    )
    note_opened_by(study=study, modes=[mode])
    request_bayesian(report=report)
    if is_new:
        is_live = mode == Mode.LIVE
        reason = "A report unblinded the outcomes." if is_live else "A report on simulated participants was built."
        if is_pilot:
            reason = "A pilot report on simulated participants was built from the draft."
        record(study, reason=reason, actor=made_by, report=report.number, mode=mode, n=inputs.flow.analysed)
    return report
