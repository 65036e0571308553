"""Finish the run that was half measured and print what an upgrade must not change, as JSON; for both versions."""

from __future__ import annotations

import json
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from evaluation.models import EvaluationRun, MetricResult, RunPart, TrainedModel  # noqa: E402
from evaluation.services.worker_loop import sweep, work_on  # noqa: E402
from studies.models import StudyVersion  # noqa: E402


def main() -> None:
    run = EvaluationRun.objects.exclude(status="succeeded").get()
    n_done = run.parts.filter(status="done").count()
    sweep(run=run)
    while work_on(run_id=run.pk):
        pass
    run.refresh_from_db()
    found = {
        "done_before": n_done,
        "status": run.status,
        "run": run.inputs_hash,
        "designs": sorted(StudyVersion.objects.values_list("design_hash", flat=True)),
        "models": sorted(TrainedModel.objects.values_list("digest", flat=True)),
        "results": sorted(RunPart.objects.values_list("result_digest", flat=True)),
        "metrics": sorted(set(MetricResult.objects.values_list("users_digest", flat=True))),
    }
    print(json.dumps(found))  # noqa: T201


main()
