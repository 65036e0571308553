"""The stages of a replication: run, study, walk, report; each is found again by what it left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import OutputWrapper
from django.utils.text import slugify

from analysis.models import Report
from analysis.selectors.answering import read_answers
from analysis.services import build_report
from catalog.models import DatasetVersion
from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.enums import RunStatus
from evaluation.experiments.schema import Contender, Experiment
from evaluation.management.watching import cancel, say_started, watch
from evaluation.models import EvaluationRun
from evaluation.services.crew import Crew, new_queue, workers_to_start
from evaluation.services.experiments import plan_experiment, read_experiment, run_of_plan
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.services.design import create_study
from studies.services.launch import launch_study
from studies.services.pilot import Progress, walk_group

TEMPLATE = "cremonesi-2011"
EXPERIMENT = "cremonesi-2011-table-2"
PAPERS_FACTORS = (50, 300)
PURESVD = ("PureSVD50", "PureSVD300")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """What a replication is made with.

    `factors` are those of the two PureSVD; where they are not the paper's the first serves AsySVD and LSA too, whose
    own are too many for a small catalogue. `reserve` is the share of users kept from every model, on whom the
    simulated participants stand.
    """

    seed: int = 1
    per_condition: int = 30
    factors: tuple[int, int] = PAPERS_FACTORS
    reserve: float = 0.15
    parallel: int = 8


def _experiment(chosen: Settings) -> Experiment:
    """The paper's Table 2 as it is shipped, with users reserved and the factors asked for."""
    found = read_experiment(name=EXPERIMENT)
    contenders = dict(found.contenders)
    for name, factors in zip(PURESVD, chosen.factors, strict=True):
        contenders[name] = Contender(name, "puresvd", {"factors": factors})
    if chosen.factors != PAPERS_FACTORS:
        for name in ("AsySVD", "LSA"):
            contenders[name] = Contender(name, contenders[name].algorithm, {"factors": chosen.factors[0]})
    runs = {key: replace(run, reserve=chosen.reserve) for key, run in found.runs.items()}
    return replace(found, contenders=contenders, runs=runs)


def finished_run(
    *, version: DatasetVersion, chosen: Settings, workers: int | None, out: OutputWrapper, tell: Tell
) -> EvaluationRun:
    """The seven algorithms trained and measured: the run of the same inputs, or a new one watched to its end.

    Models of the same recipe are reused by their hash. Raises what `plan_experiment` does, and `replicate.no_run`.
    """
    experiment = _experiment(chosen)
    threads = settings.NUMERIC_THREADS
    planned = plan_experiment(experiment=experiment, version=version, seed=chosen.seed, threads=threads)
    (key,) = planned
    with ExitStack() as stack:
        n_workers = workers_to_start(workers)
        queue = new_queue() if n_workers else ""
        run = run_of_plan(
            experiment=experiment, planned=planned[key], version=version, seed=chosen.seed, threads=threads, queue=queue
        )
        if run.status == RunStatus.SUCCEEDED:
            tell(f"run {run.pk} has the same inputs and is taken as it is")
            return run
        crew = None
        if n_workers:
            if workers is None:
                say_started(n_workers, out)
            crew = stack.enter_context(Crew(size=n_workers, queue=queue, threads=threads))
        try:
            watch(run, crew, out)
        except BaseException:
            cancel(run)
            raise
    if run.status != RunStatus.SUCCEEDED:
        reason = run.error or f"It was {run.get_status_display().lower()}."
        raise ParallaxError("replicate.no_run", f"Run {run.pk} did not finish. {reason}")
    return run


def launched_study(*, run: EvaluationRun, chosen: Settings, owner: Any, tell: Tell) -> Study:
    """The study of the template on that run, live: the one there is, or a new one launched."""
    dataset = run.version.dataset.name
    mark = digest_of([run.inputs_hash, chosen.per_condition, chosen.seed])[:8]
    slug = f"replication-{slugify(dataset)[:50]}-{mark}"
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
        tell(f"the study {slug} is there already")
    if study.status == StudyStatus.DRAFT:
        launch_study(study=study)
    return study


def walked(*, study: Study, chosen: Settings, server: Callable[[], AbstractContextManager[str]], tell: Tell) -> int:
    """Everybody walked to the end over HTTP; those who are there already are not walked again. Gives how many."""
    wanted = chosen.per_condition * study.conditions.count()
    done = Participant.objects.filter(study=study, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED).count()
    if done >= wanted:
        tell(f"all {wanted} are there already")
        return wanted
    step = max(1, wanted // 10)

    def heard(progress: Progress) -> None:
        if progress.finished % step == 0:
            tell(f"{progress.finished} of {progress.total}")

    with server() as url:
        end = walk_group(
            study=study,
            per_condition=chosen.per_condition,
            seed=chosen.seed,
            base_url=url,
            parallel=chosen.parallel,
            tell=heard,
        )
    return end.finished


def reported(*, study: Study, owner: Any, tell: Tell) -> Report:
    """The report on the simulated participants; the same answers give the one that is there."""
    return build_report(study=study, mode=Mode.SIMULATED, made_by=owner, progress=tell)


def novelty_correlation(study: Study) -> float | None:
    """Pearson's r of both novelties over all participants; None where one of them does not vary."""
    people = read_answers(study, Mode.SIMULATED, {}).kept.people
    fon = np.array([one.fon_sum / one.n_items for one in people])
    son = np.array([one.son_sum / one.n_items for one in people])
    if len(people) < 3 or not fon.std() or not son.std():
        return None
    return float(np.corrcoef(fon, son)[0, 1])


def names_of(report: Report, algorithms: tuple[str, ...]) -> Mapping[str, str]:
    """The paper's name of each condition: both stand in the order of Table 2."""
    labels = [one["label"] for one in report.results["conditions"]]
    if len(labels) != len(algorithms):
        raise ParallaxError(
            "replicate.other_conditions", f"The study has {len(labels)} conditions, and the paper {len(algorithms)}."
        )
    return dict(zip(labels, algorithms, strict=True))
