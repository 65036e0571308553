"""The stages of a replication: run, study, simulation and report; each reuses what a previous attempt finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.base import OutputWrapper
from django.utils.text import slugify

from analysis.enums import VARIABLES
from analysis.models import Report
from analysis.services import build_report
from catalog.models import DatasetVersion
from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.enums import RunStatus
from evaluation.experiments.schema import Contender
from evaluation.management.run_monitor import MonitoredRuns
from evaluation.models import EvaluationRun
from evaluation.services.experiments import plan_experiment, read_experiment, run_of_plan
from parallax.replication.published import Published
from studies.design.services.design import create_study
from studies.design.services.launch import launch_study
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.simulation.services.pilot import Progress, walk_group

TEMPLATE = "cremonesi-2011"
EXPERIMENT = "cremonesi-2011-table-2"
PUBLISHED_FACTORS = (50, 300)
PUBLISHED_N = 5  # items of a list
PURESVD = ("PureSVD50", "PureSVD300")

ReportStage = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """The settings of a replication.

    `factors` are those of the two PureSVD models; if they differ from the paper's, the first also applies to AsySVD
    and LSA, whose own would be too many for a small catalogue. `reserve` is the share of users held out from training,
    whose ratings the simulated participants use.
    """

    seed: int = 1
    per_condition: int = 30
    factors: tuple[int, int] = PUBLISHED_FACTORS
    reserve: float = 0.15
    parallel: int = 8


def queued_run(*, version: DatasetVersion, chosen: Settings, queue: str = "") -> EvaluationRun:
    """The run of the seven algorithms, which is not awaited: an existing run with the same inputs, or a new one.

    Models of the same recipe are reused by their hash. Raises what `plan_experiment` does.
    """
    shipped = read_experiment(name=EXPERIMENT)  # for the paper's Table 2
    factors = dict(zip(PURESVD, chosen.factors, strict=True))
    if chosen.factors != PUBLISHED_FACTORS:
        factors |= dict.fromkeys(("AsySVD", "LSA"), chosen.factors[0])
    sized = {
        name: Contender.model_validate({"algorithm": shipped.algorithms[name].algorithm, "factors": number})
        for name, number in factors.items()
    }
    runs = {key: run.model_copy(update={"reserve": chosen.reserve}) for key, run in shipped.runs.items()}
    experiment = shipped.model_copy(update={"algorithms": {**shipped.algorithms, **sized}, "runs": runs})
    planned = plan_experiment(
        experiment=experiment, version=version, seed=chosen.seed, threads=settings.NUMERIC_THREADS
    )
    (plan,) = planned.values()
    return run_of_plan(planned=plan, version=version, queue=queue)


def finished_run(
    *, version: DatasetVersion, chosen: Settings, workers: int | None, out: OutputWrapper, progress: ReportStage
) -> EvaluationRun:
    """The run of the seven algorithms, which is awaited.

    Raises what `plan_experiment` does, and `replicate.no_run`.
    """
    with MonitoredRuns(workers, out) as runs:
        run = queued_run(version=version, chosen=chosen, queue=runs.queue)
        if run.status == RunStatus.SUCCEEDED:
            progress(f"run {run.pk} has the same inputs and is reused")
            return run
        runs.finish(run)
    if run.status != RunStatus.SUCCEEDED:
        reason = run.error or f"It was {run.get_status_display().lower()}."
        raise ParallaxError("replicate.no_run", f"Run {run.pk} did not finish. {reason}")
    return run


def slug_of(run: EvaluationRun, chosen: Settings) -> str:
    """The slug of the study on a run: the same settings give the same study."""
    mark = digest_of([run.inputs_hash, chosen.per_condition, chosen.seed])[:8]
    return f"replication-{slugify(run.version.dataset.name)[:50]}-{mark}"


def launched_study(*, run: EvaluationRun, chosen: Settings, owner: Any, progress: ReportStage) -> Study:
    """The launched study on that run: the existing one, or a new one."""
    dataset, slug = run.version.dataset.title, slug_of(run, chosen)
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        study = create_study(
            slug=slug,
            template=TEMPLATE,
            version=run.version,
            run=run,
            per_condition=chosen.per_condition,
            seed=chosen.seed,
            owner=owner,
            title=f"Looking for good recommendations, on {dataset} with simulated participants",
        )
    else:
        progress(f"the study {slug} exists already")
    if study.status == StudyStatus.DRAFT:
        launch_study(study=study)
    return study


def simulate_participants(
    *, study: Study, chosen: Settings, server: Callable[[], AbstractContextManager[str]], progress: ReportStage
) -> None:
    """Simulate the participants that are missing over HTTP."""
    wanted = chosen.per_condition * study.conditions.count()
    done = Participant.objects.filter(study=study, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED).count()
    if done >= wanted:
        progress(f"all {wanted} exist already")
        return
    step = max(1, wanted // 10)

    def report_walks(walks: Progress) -> None:
        if walks.finished % step == 0:
            progress(f"{walks.finished} of {walks.total}")

    with server() as url:
        walk_group(
            study=study,
            per_condition=chosen.per_condition,
            seed=chosen.seed,
            base_url=url,
            parallel=chosen.parallel,
            progress=report_walks,
        )


def finished_study(slug: str) -> Study:
    """The closed study of that slug. Raises `replicate.no_study` and `replicate.not_finished`."""
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        raise ParallaxError("replicate.no_study", f"There is no study called {slug}.")
    if study.status != StudyStatus.CLOSED:
        raise ParallaxError(
            "replicate.not_finished",
            f"The study {slug} is {study.get_status_display().lower()}. Close it before you compare its answers.",
        )
    if not Participant.objects.filter(study=study, mode=Mode.LIVE, status=ParticipantStatus.COMPLETED).exists():
        raise ParallaxError("replicate.not_finished", f"No participant has completed the study {slug}.")
    if study.run.n != PUBLISHED_N:
        raise ParallaxError(
            "replicate.other_length",
            f"The run of the study {slug} measures lists of {study.run.n}, and the paper lists of {PUBLISHED_N}.",
        )
    return study


def report_of_study(*, study: Study, progress: ReportStage) -> Report:
    """The report on the participants of a finished study, with every variable of the paper.

    Raises what `build_report` does, and `replicate.other_variables`.
    """
    report = build_report(study=study, mode=Mode.LIVE, progress=progress)
    tested = {variable.key for variable in report.read_results().variables}
    missing = [variable.name for variable in VARIABLES if variable.key not in tested]
    if missing:
        raise ParallaxError(
            "replicate.other_variables",
            f"The plan of the study {study.slug} leaves out variables of the paper: {', '.join(missing)}.",
        )
    return report


def names_by_algorithm(study: Study, paper: Published) -> Mapping[str, str]:
    """The paper's name of each condition of a study, by algorithm; of two PureSVD models by their factors.

    Raises `replicate.other_conditions` unless the algorithms are those of the paper.
    """
    contenders = read_experiment(name=EXPERIMENT).algorithms.items()
    models = ((row.model, row.label) for row in study.conditions.select_related("model"))
    ours = sorted((model.algorithm, _factors(model.algorithm, model.params), label) for model, label in models)
    theirs = sorted((row.algorithm, _factors(row.algorithm, row.params), name) for name, row in contenders)
    if [row[0] for row in ours] != [row[0] for row in theirs]:
        raise ParallaxError(
            "replicate.other_conditions",
            f"The study has the algorithms {', '.join(row[0] for row in ours)}; the paper's are "
            f"{', '.join(row[0] for row in theirs)}.",
        )
    names = {mine[2]: published[2] for mine, published in zip(ours, theirs, strict=True)}
    return dict(sorted(names.items(), key=lambda pair: paper.algorithms.index(pair[1])))


def _factors(algorithm: str, params: Mapping[str, Any]) -> int:
    """The factors of a PureSVD model, which the paper has two of; 0 for other algorithms."""
    return int(params["factors"]) if algorithm == "puresvd" else 0
