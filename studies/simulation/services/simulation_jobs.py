"""Jobs of workers that walk simulated participants through a study's pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction

from core.errors import ParallaxError
from core.transitions import record
from jobs.models import Job
from jobs.services import request
from studies.design.services.launch import launch_problems
from studies.enums import StudyStatus
from studies.models import Study
from studies.simulation.services.pilot import OPEN_TO_SIMULATION, Progress, walk_group

MOST_PER_CONDITION = 200
PARALLEL = 4  # participants at the same time


@transaction.atomic
def request_simulation(*, study: Study, per_condition: int, seed: int, base_url: str, actor: Any) -> Job:
    """Request simulated participants from a worker; recorded. An open job of the study is returned instead.

    Raises `simulation.bad_number`, `simulation.closed`, and `pilot.not_ready` for a draft that could not be launched.
    """
    if not 1 <= per_condition <= MOST_PER_CONDITION:
        raise ParallaxError("simulation.bad_number", f"Simulate 1 to {MOST_PER_CONDITION} participants per condition.")
    current = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    open_job: Job | None = current.jobs.open().filter(kind="simulation").first()
    if open_job is not None:
        return open_job
    if current.status not in OPEN_TO_SIMULATION:
        raise ParallaxError("simulation.closed", "Simulated participants walk drafts and live studies only.")
    if current.status == StudyStatus.DRAFT and (problems := launch_problems(current)):
        raise ParallaxError(
            "pilot.not_ready", "The draft could not be launched yet. " + " ".join(problems), {"problems": problems}
        )
    payload = {"per_condition": per_condition, "seed": seed, "base_url": base_url}
    job = request("simulation", owner=actor, subject=current, payload=payload)
    record(current, reason=f"Simulation requested: {per_condition} per condition.", actor=actor, seed=seed)
    return job


def simulate(job: Job, progress: Callable[[str], None]) -> dict[str, Any]:
    """Walk the participants of a requested simulation; one that was interrupted is resumed by the next worker."""
    result = {"reached": ""}

    def tell(reached: Progress) -> None:
        is_over = reached.finished > reached.total  # where more were simulated before
        more = f"{reached.finished} participants, more than the {reached.total} requested"
        result["reached"] = more if is_over else f"{reached.finished} of {reached.total} participants"
        progress(result["reached"])

    walk_group(study=job.subject, **job.payload, parallel=PARALLEL, tell=tell)
    return {"result": result}
