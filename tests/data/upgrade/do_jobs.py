"""Do what waits for a worker, as the sweep and a worker would, and print what became of the jobs, as JSON."""

from __future__ import annotations

import json
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from django.core.files.storage import default_storage  # noqa: E402

from jobs.models import Job  # noqa: E402
from jobs.services import LEASES, do_job  # noqa: E402


def main() -> None:
    LEASES.release_dead()
    for job in Job.objects.order_by("pk"):
        do_job(job_id=job.pk)
    found = [
        (job.kind, job.status, bool(job.file) and default_storage.exists(job.file), job.error)
        for job in Job.objects.order_by("pk")
    ]
    print(json.dumps(found))  # noqa: T201


main()
