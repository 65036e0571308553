"""Studies on runs that may still be open: a job waits for the run, and creates the draft with its models."""

from __future__ import annotations

from typing import Any

from django.utils.text import slugify

from core.errors import ParallaxError
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.models import EvaluationRun
from jobs.kinds import Progress
from jobs.models import Job
from jobs.services import request
from studies.design.services.design import RESERVED_SLUGS, check_slug, create_study
from studies.models import Study

LONGEST_SLUG = 80


def free_slug(title: str) -> str:
    """The end of a study's link that follows from its title: the title, with a number where it is taken."""
    stem = slugify(title)[: LONGEST_SLUG - 4].strip("-_").replace("_", "-") or "study"
    used = {*Study.objects.filter(slug__startswith=stem).values_list("slug", flat=True), *RESERVED_SLUGS}
    return next(slug for slug in (stem, *(f"{stem}-{n}" for n in range(2, len(used) + 3))) if slug not in used)


def begin_study(*, run: EvaluationRun, title: str, slug: str, template: str, actor: Any) -> Study | Job:
    """Create a draft on a run that has succeeded; on one that is open, the job that waits for it. Without a slug, the
    title gives one. Raises as `create_study` and `request_study`.
    """
    chosen: dict[str, Any] = {"run": run, "title": title, "slug": slug or free_slug(title), "template": template}
    if run.status == RunStatus.SUCCEEDED:
        return create_study(**chosen, version=run.version, owner=actor)
    return request_study(**chosen, actor=actor)


def request_study(*, run: EvaluationRun, title: str, slug: str, template: str, actor: Any) -> Job:
    """Request a draft on the models of a run, created once the run has succeeded. An open request for the same link is
    returned instead.

    Raises `study.bad_slug`, `study.slug_taken`.
    """
    check_slug(slug)
    if Study.objects.filter(slug=slug).exists():
        raise ParallaxError("study.slug_taken", f"There is a study called {slug} already.")
    payload = {"run": run.pk, "title": title, "slug": slug, "template": template}
    job = Job.objects.open().filter(kind="study", owner=actor, payload__slug=slug).first()
    return job or request("study", owner=actor, subject=run.version, payload=payload)


def run_of(job: Job) -> EvaluationRun | None:
    """The run that a request waits for; None where it was deleted."""
    return EvaluationRun.objects.filter(pk=job.payload["run"]).first()


def is_ready(job: Job) -> bool:
    """Whether the draft can be created now. Raises ParallaxError where it never can."""
    run = run_of(job)
    if run is None or job.owner is None:
        raise ParallaxError("study.no_run", "The run was deleted. Create the study again.")
    if run.status == RunStatus.SUCCEEDED:
        return True
    if run.status not in RUN_OPEN:
        raise ParallaxError("study.run_not_finished", f"Run {run.pk} did not finish. {run.error}".strip())
    return False


def create_requested(job: Job, progress: Progress) -> dict[str, Any]:
    """Create the draft that was requested."""
    run = run_of(job)
    if run is None:
        raise ParallaxError("study.no_run", "The run was deleted. Create the study again.")
    progress("Creating the study")
    chosen = {name: job.payload[name] for name in ("title", "slug", "template")}
    study = create_study(**chosen, version=run.version, run=run, owner=job.owner)
    return {"result": {"study": study.slug}}
