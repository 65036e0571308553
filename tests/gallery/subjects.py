"""What single pages of the console are about: an upload, jobs, a session of an interview, an invitation, an account."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from accounts.services.invitations import invite
from accounts.services.projects import create_project
from catalog.enums import JobKind
from catalog.models import DatasetJob
from catalog.services.dataset_jobs import prepare_import
from evaluation.models import ExperimentJob
from parallax.replication.models import ReplicationJob
from studies.models import SimulationJob, Study
from studies.participation.services.interviews import start_interview

RATINGS = b"user,item,rating\nann,Alien,4\nann,Brazil,5\nbob,Alien,3\nbob,Brazil,2\n"


def subjects_of(study: Study, owner: User) -> dict[str, dict[str, Any]]:
    """Make them for a study that runs, and return the arguments of their addresses."""
    run = study.run
    upload = prepare_import(uploads=[SimpleUploadedFile("ratings.csv", RATINGS)], actor=owner)
    import_job = DatasetJob.objects.create(kind=JobKind.IMPORT, requested_by=owner, source="ratings.csv")
    experiment = ExperimentJob.objects.create(
        experiment="croc-cold",
        version=run.version,
        runs={"main": run.pk},
        verdicts=[["as in the paper", "It finds more."]],
    )
    simulation = SimulationJob.objects.create(study=study, per_condition=12, seed=1, base_url="http://localhost/")
    replication = ReplicationJob.objects.create(
        paper="cremonesi-2011", version=run.version, run=run, requested_by=owner,
        chosen={"per_condition": 30, "seed": 1, "factors": [50, 300], "reserve": 0.15}, base_url="http://localhost:9/",
    )  # fmt: skip
    session = start_interview(study=study, interviewer=owner, place="", label="A7").interview
    _invitation, key = invite(actor=owner)
    project = create_project(name="Film group", owner=owner)
    return {
        "accounts:invitation": {"key": key},
        "accounts:researcher": {"pk": owner.pk},
        "catalog:step": {"pk": upload.pk, "step": "columns"},
        "catalog:recipe": {"pk": upload.pk},
        "catalog:job": {"pk": import_job.pk},
        "evaluation:experiment": {"key": "croc-hot"},
        "evaluation:experiment-job": {"pk": experiment.pk},
        "projects:detail": {"pk": project.pk},
        "projects:move": {"name": run.version.dataset.name},
        "replication:job": {"pk": replication.pk},
        "studies:session": {"slug": study.slug, "pk": session.pk},
        "studies:simulation": {"slug": study.slug, "pk": simulation.pk},
    }
