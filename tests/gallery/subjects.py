"""What single pages of the console are about: an upload, jobs, a session of an interview, an invitation, an account."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from accounts.services.invitations import invite
from accounts.services.projects import create_project
from catalog.services.dataset_jobs import change_import, prepare_import
from catalog.services.job_work import check_files
from catalog.views.imports import STEPS
from evaluation.services.upload_jobs import request_upload
from jobs.models import Job
from jobs.services import do_job
from studies.models import Study
from studies.participation.services.interviews import start_interview

BOOKS = ("Emma", "Dracula", "Middlemarch", "Walden", "Ulysses", "Villette", "Kim", "Candide", "Persuasion", "Nostromo")
READERS = ("ann", "bob", "cleo", "dan", "eva", "finn", "gil", "hana")
# The last two rows repeat a pair, and have no number.
RATINGS = "reader,isbn,title,mark\n" + "".join(
    f"{reader},{1000 + book},{title},{2 + (3 * person + 5 * book + person * book) % 4}\n"
    for person, reader in enumerate(READERS) for book, title in enumerate(BOOKS) if (person + book) % 4
) + "ann,1001,Dracula,4\nbob,1004,Ulysses,excellent\n"  # fmt: skip


def subjects_of(study: Study, owner: User) -> dict[str, list[dict[str, Any]]]:
    """Make them for a study that runs, and return the arguments of their addresses, once for each page."""
    run = study.run
    upload = prepare_import(uploads=[SimpleUploadedFile("ratings.csv", RATINGS.encode())], actor=owner)
    change_import(job=upload, step="check", check=check_files(upload, lambda *_: None))
    import_job = Job.objects.create(kind="import", owner=owner, payload={"source": "ratings.csv"})
    experiment = run.version.jobs.create(
        kind="experiment",
        payload={"experiment": "croc-cold", "runs": {"main": run.pk}},
        result={"verdicts": [["as in the paper", "It finds more."]]},
    )
    weights = "{},{},0.5".format(*run.version.items.order_by("index").values_list("external_id", flat=True)[:2])
    uploaded = request_upload(
        version=run.version, file=SimpleUploadedFile("weights.csv", weights.encode()), kind="matrix",
        params={"name": "Mine"}, learned_from="", are_strangers_unseen=False, actor=owner,
    )  # fmt: skip
    do_job(job_id=uploaded.pk)
    wanted = {"run": run.pk, "title": "Good films, again", "slug": "good-films-again", "template": "cremonesi-2011"}
    waiting = run.version.jobs.create(kind="study", owner=owner, payload=wanted)
    walked = {"per_condition": 12, "seed": 1, "base_url": "http://localhost/"}
    simulation = study.jobs.create(kind="simulation", payload=walked)
    chosen = {"per_condition": 30, "seed": 1, "factors": [50, 300], "reserve": 0.15}
    replicated = {"paper": "cremonesi-2011", "run": run.pk, "chosen": chosen, "base_url": "http://localhost:9/"}
    replication = run.version.jobs.create(kind="replication", owner=owner, payload=replicated)
    session = start_interview(study=study, interviewer=owner, place="", label="A7").interview
    _invitation, key = invite(actor=owner)
    project = create_project(name="Film group", owner=owner)
    one = {
        "accounts:invitation": {"key": key},
        "accounts:researcher": {"pk": owner.pk},
        "catalog:recipe": {"pk": upload.pk},
        "catalog:job": {"pk": import_job.pk},
        "evaluation:experiment": {"key": "croc-hot"},
        "evaluation:experiment-job": {"pk": experiment.pk},
        "evaluation:uploaded": {"pk": uploaded.pk},
        "projects:detail": {"pk": project.pk},
        "projects:move": {"name": run.version.dataset.name},
        "replication:job": {"pk": replication.pk},
        "studies:session": {"slug": study.slug, "pk": session.pk},
        "studies:starting": {"pk": waiting.pk},
        "studies:simulation": {"slug": study.slug, "pk": simulation.pk},
    }
    steps = [{"pk": upload.pk, "step": step} for step in STEPS]
    return {"catalog:step": steps, **{address: [arguments] for address, arguments in one.items()}}
