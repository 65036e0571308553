"""Store jobs as the version before the one table of jobs did, upgrade, and print what became of them."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402
from django.utils import timezone  # noqa: E402

FORMER = [
    ("jobs", "0001_initial"),
    ("studies", "0024_slots_by_progress"),
    ("evaluation", "0001_squashed_0008_project"),
    ("analysis", "0001_squashed_0006_sample_reports"),
    ("catalog", "0007_more_item_types"),
    ("replication", "0001_replication_jobs"),
]
LONG_AGO = timezone.now() - timedelta(days=2)


def former_apps() -> Any:
    MigrationExecutor(connection).migrate(FORMER)
    return MigrationExecutor(connection).loader.project_state(FORMER).apps


def store(apps: Any) -> None:
    def create(app: str, model: str, **fields: Any) -> Any:
        return apps.get_model(app, model).objects.create(**fields)

    study = apps.get_model("studies", "Study").objects.get()
    owner = apps.get_model("accounts", "User").objects.get()
    by = {"requested_by_id": owner.pk}
    version_id = study.dataset_version_id
    create("studies", "ExportJob", pk=7, study=study, kind="wide", options={"without_excluded": True}, status="done",
           file="exports/1/a.zip", sha256="ab", n_bytes=3, **by)  # fmt: skip
    failed = create(
        "studies", "ExportJob", pk=8, study=study, kind="long", status="failed", error="The disk is full.", **by
    )
    create("studies", "Notice", study=study, kind="fault", key=f"export:{failed.pk}", text="It failed.")
    gone = {"lease": "gone:1:a", "leased_until": LONG_AGO, "attempts": 1}
    walked = {"per_condition": 2, "seed": 1, "base_url": "http://x/"}
    simulation = create("studies", "SimulationJob", study=study, status="running", activity="1 of 2", **walked, **gone)
    create("evaluation", "ExperimentJob", experiment="croc-hot", version_id=version_id, runs={"main": study.run_id},
           status="succeeded", verdicts=[["holds", "It does."]], file="experiments/1.zip")  # fmt: skip
    report = create("analysis", "Report", study=study, run_id=study.run_id, number=1, mode="simulated", inputs_hash="a",
                    results={})  # fmt: skip
    create("analysis", "ReportRequest", study=study, mode="simulated", overrides={"alpha": 0.01}, asked_by_id=owner.pk)
    create("analysis", "ReportRequest", study=study, kind="package", report=report, status="succeeded",
           file="packages/2/1.zip", asked_by_id=owner.pk)  # fmt: skip
    create("analysis", "BayesianAnalysis", report=report, status="succeeded", results={"models": 1})
    create("catalog", "DatasetJob", kind="import", status="waiting", source="a.csv", folder="f",
           settings={"step": "items"}, **by)  # fmt: skip
    create("catalog", "DatasetJob", kind="subset", status="failed", source="a", base_id=version_id, error="No rows.",
           problems=[{"row": 1}], remedies=["scale"], **by)  # fmt: skip
    create("replication", "ReplicationJob", paper="p", version_id=version_id, study=study, run_id=study.run_id,
           chosen={"seed": 1}, base_url="http://x/", simulation=simulation, **by)  # fmt: skip
    for app, name in (("studies", "ExportJob"), ("replication", "ReplicationJob")):
        apps.get_model(app, name).objects.update(created_at=LONG_AGO)


def stored_jobs() -> list[dict[str, Any]]:
    from jobs.models import Job
    from jobs.services import LEASES
    from studies.models import Notice

    LEASES.release_dead()
    jobs = list(Job.objects.order_by("pk"))
    simulation = next(job for job in jobs if job.kind == "simulation")
    notice = Notice.objects.get(key__startswith="export:")
    failed = next(job for job in jobs if job.kind == "export" and job.status == "failed")
    assert notice.key == f"export:{failed.pk}"
    assert min(job.pk for job in jobs) > 7
    assert next(job for job in jobs if job.kind == "export").created_at == LONG_AGO
    found = [
        {
            "kind": job.kind,
            "status": job.status,
            "subject": None if job.subject is None else type(job.subject).__name__,
            "has_owner": job.owner is not None,
            "payload": job.payload | ({"simulation": "kept"} if job.payload.get("simulation") == simulation.pk else {}),
            "result": job.result,
            "file": job.file,
            "error": job.error,
        }
        for job in jobs
    ]  # fmt: skip
    new = Job.objects.create(kind="export")
    assert new.pk == jobs[-1].pk + 1
    notice.delete()
    Job.objects.all().delete()
    return found


def main() -> None:
    store(former_apps())
    call_command("migrate", verbosity=0)
    from analysis.models import Report

    report = Report.objects.get()
    assert report.bayesian == {"models": 1}
    print(json.dumps(stored_jobs()))  # noqa: T201
    report.delete()


if __name__ == "__main__":
    main()
