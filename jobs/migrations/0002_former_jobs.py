"""Copy the jobs of seven former tables into one, with new ids above all former ones, so that no old address shows
another job. Jobs that wait or run go on: the sweep sends their messages, and releases the leases of former workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.color import no_style
from django.db import migrations
from django.db.models import Max

LEASED = ("error", "lease", "leased_until", "attempts", "hinted_at")
FORMER = {
    "studies": ("ExportJob", "SimulationJob"),
    "evaluation": ("ExperimentJob",),
    "analysis": ("ReportRequest", "BayesianAnalysis"),
    "catalog": ("DatasetJob",),
    "replication": ("ReplicationJob",),
}
Fields = dict[str, Any]


def export_job(row: Any) -> Fields:
    result = {"sha256": row.sha256, "n_bytes": row.n_bytes} if row.sha256 else {}
    payload = {"format": row.kind, "options": row.options}
    return {"kind": "export", "subject": ("study", row.study_id), "payload": payload, "result": result}


def simulation_job(row: Any) -> Fields:
    payload = {"per_condition": row.per_condition, "seed": row.seed, "base_url": row.base_url}
    result = {"reached": row.activity} if row.status == "done" else {}
    return {"kind": "simulation", "subject": ("study", row.study_id), "payload": payload, "result": result}


def experiment_job(row: Any) -> Fields:
    payload = {"experiment": row.experiment, "runs": row.runs}
    result = {"verdicts": row.verdicts} if row.verdicts else {}
    return {"kind": "experiment", "subject": ("datasetversion", row.version_id), "payload": payload, "result": result}


def report_request(row: Any) -> Fields:
    if row.kind == "package":
        payload, result = {"report": row.report_id}, {}
    else:
        payload = {"mode": row.mode, "overrides": row.overrides}
        result = {"report": row.report_id} if row.report_id else {}
    return {
        "kind": row.kind,
        "owner_id": row.asked_by_id,
        "subject": ("study", row.study_id),
        "payload": payload,
        "result": result,
    }


def bayesian_analysis(row: Any) -> Fields:
    return {"kind": "bayesian", "owner_id": None, "subject": ("report", row.report_id), "result": row.results or {}}


def dataset_job(row: Any) -> Fields:
    payload = {**row.settings, "source": row.source, **({"folder": row.folder} if row.folder else {})}
    subject = ("project", row.project_id) if row.base_id is None else ("datasetversion", row.base_id)
    result: Fields = {}
    if row.status == "succeeded":
        subject = ("datasetversion", row.version_id or row.base_id)
        result = {"version": row.version_id, "message": row.message}
    elif row.status == "failed":
        result = {"problems": row.problems, "options": row.remedies}
    return {
        "kind": row.kind,
        "subject": subject,
        "payload": payload,
        "result": result,
        "done": row.done,
        "total": row.total,
    }


def replication_job(row: Any) -> Fields:
    payload = {"paper": row.paper}
    if row.version_id is not None:
        payload |= {"run": row.run_id, "chosen": row.chosen, "base_url": row.base_url}
    subject = ("study", row.study_id) if row.study_id else ("datasetversion", row.version_id)
    result = {"report": row.report_id, "verdicts": row.verdicts} if row.verdicts else {}
    return {"kind": "replication", "subject": subject, "payload": payload, "result": result}


OF_MODEL = {
    "ExportJob": export_job,
    "SimulationJob": simulation_job,
    "ExperimentJob": experiment_job,
    "ReportRequest": report_request,
    "BayesianAnalysis": bayesian_analysis,
    "DatasetJob": dataset_job,
    "ReplicationJob": replication_job,
}
APP_OF = {"study": "studies", "report": "analysis", "datasetversion": "catalog", "project": "accounts"}


def former_rows(apps: Any) -> Iterator[tuple[str, Any]]:
    """Yield every former row with the name of its model; replications last, because they name their simulations."""
    for app, names in FORMER.items():
        for name in names:
            for row in apps.get_model(app, name)._default_manager.order_by("pk").iterator():
                yield name, row


def copy_jobs(apps: Any, schema_editor: Any) -> None:
    models = [apps.get_model(app, name) for app, names in FORMER.items() for name in names]
    highest = max(model._default_manager.aggregate(highest=Max("pk"))["highest"] or 0 for model in models)
    if not highest:
        return
    job_model = apps.get_model("jobs", "Job")
    content_type = apps.get_model("contenttypes", "ContentType")
    types = {name: content_type.objects.get_or_create(app_label=app, model=name)[0].pk for name, app in APP_OF.items()}
    new_id: dict[tuple[str, int], int] = {}
    for pk, (name, row) in enumerate(former_rows(apps), start=highest + 1):
        new_id[name, row.pk] = pk
        fields = {"owner_id": getattr(row, "requested_by_id", None), **OF_MODEL[name](row)}
        subject, subject_id = fields.pop("subject")
        if name == "ReplicationJob" and row.simulation_id is not None:
            fields["payload"]["simulation"] = new_id["SimulationJob", row.simulation_id]
        job_model._default_manager.create(
            pk=pk,
            subject_type_id=types[subject] if subject_id is not None else None,
            subject_id=subject_id,
            status="succeeded" if row.status == "done" else row.status,
            activity=getattr(row, "activity", "") if row.status == "running" else "",
            file=getattr(row, "file", ""),
            **{field: getattr(row, field) for field in LEASED},
            **fields,
        )
        job_model._default_manager.filter(pk=pk).update(created_at=row.created_at, updated_at=row.updated_at)
    rename_notices(apps, new_id)
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [job_model]):
            cursor.execute(statement)


def rename_notices(apps: Any, new_id: dict[tuple[str, int], int]) -> None:
    """Let notices of failed exports name them as before, so that owners are not notified again."""
    notices = apps.get_model("studies", "Notice")._default_manager
    for notice in notices.filter(key__startswith="export:"):
        pk = new_id.get(("ExportJob", int(notice.key.removeprefix("export:"))))
        if pk is not None:
            notices.filter(pk=notice.pk).update(key=f"export:{pk}")


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0001_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("accounts", "0006_projects"),
        ("catalog", "0007_more_item_types"),
        ("evaluation", "0008_project"),
        ("studies", "0024_slots_by_progress"),
        ("analysis", "0006_sample_reports"),
        ("replication", "0001_replication_jobs"),
    ]

    operations = [migrations.RunPython(copy_jobs, migrations.RunPython.noop)]
