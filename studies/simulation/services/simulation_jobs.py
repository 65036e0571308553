"""Jobs of workers that walk simulated participants through a study's pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from jobs.leases import JobLeases
from studies.design.services.launch import launch_problems
from studies.enums import EXPORT_MOVES, ExportStatus, StudyStatus
from studies.models import SimulationJob, Study
from studies.simulation.services.pilot import Progress, walk_group
from studies.simulation.services.targets import OPEN_TO_SIMULATION

MOST_PER_CONDITION = 200
PARALLEL = 4  # participants at the same time
OPEN = (ExportStatus.QUEUED, ExportStatus.RUNNING)
JOBS = JobLeases(SimulationJob, EXPORT_MOVES, task="studies.simulate")


@transaction.atomic
def request_simulation(*, study: Study, per_condition: int, seed: int, base_url: str, actor: Any) -> SimulationJob:
    """Request simulated participants from a worker; recorded. An open job of the study is returned instead.

    Raises `simulation.bad_number`, `simulation.closed`, and `pilot.not_ready` for a draft that could not be launched.
    """
    if not 1 <= per_condition <= MOST_PER_CONDITION:
        raise ParallaxError("simulation.bad_number", f"Simulate 1 to {MOST_PER_CONDITION} participants per condition.")
    current = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if (job := SimulationJob.objects.filter(study=current, status__in=OPEN).first()) is not None:
        return job
    if current.status not in OPEN_TO_SIMULATION:
        raise ParallaxError("simulation.closed", "Simulated participants walk drafts and live studies only.")
    if current.status == StudyStatus.DRAFT and (problems := launch_problems(current)):
        raise ParallaxError(
            "pilot.not_ready", "The draft could not be launched yet. " + " ".join(problems), {"problems": problems}
        )
    job = SimulationJob.objects.create(
        study=current, per_condition=per_condition, seed=seed, base_url=base_url, requested_by=actor,
        hinted_at=timezone.now(),
    )  # fmt: skip
    record(current, reason=f"Simulation requested: {per_condition} per condition.", actor=actor, seed=seed)
    JOBS.send(job.pk)
    return job


def simulate(*, job_id: int) -> bool:
    """Do a requested simulation; True where this worker finished it. A repeated message has no effect.

    An interrupted simulation is resumed by the next worker. Errors: see `JobLeases.execute`.
    """
    job = SimulationJob.objects.select_related("study").filter(pk=job_id).first()
    if job is None or not JOBS.take(job):
        return False

    def walk(progress: Callable[[str], None]) -> dict[str, Any]:
        def tell(reached: Progress) -> None:
            is_over = reached.finished > reached.total  # where more were simulated before
            more = f"{reached.finished} participants, more than the {reached.total} requested"
            progress(more if is_over else f"{reached.finished} of {reached.total} participants")

        walk_group(
            study=job.study,
            per_condition=job.per_condition,
            seed=job.seed,
            base_url=job.base_url,
            parallel=PARALLEL,
            tell=tell,
        )
        return {}

    return JOBS.execute(job, walk, to=ExportStatus.DONE)
