"""Build the installations that `tests/e2e/test_upgrade_of_queued_work.py` upgrades: a run half measured, jobs queued.

Run it in a checkout of the last version with seven tables of jobs, on an installation restored from `sqlite.sql.gz` or
`postgresql.sql.gz` and migrated by that version. Dump the database as `build.py` says, to `queued_sqlite.sql.gz` and
`queued_postgresql.sql.gz`, and the folder of artefacts to `queued_artefacts.tar.gz`. Then `finish_queued.py` prints
the expected digests for `queued_sqlite.json` and `queued_postgresql.json`, to which the SHA-256 of exports are added.
"""

from __future__ import annotations

import os
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.utils import timezone  # noqa: E402

from analysis.services.requests import request_report  # noqa: E402
from catalog.models import DatasetVersion  # noqa: E402
from evaluation.models import RunPart  # noqa: E402
from evaluation.services.parts import lease_part  # noqa: E402
from evaluation.services.runs import create_run  # noqa: E402
from evaluation.services.worker_loop import execute  # noqa: E402
from studies.data.exports.tables import Options  # noqa: E402
from studies.data.services.exports import request_export  # noqa: E402
from studies.models import ExportJob, Study  # noqa: E402
from studies.monitoring.services.blinding import open_outcomes  # noqa: E402

DONE_PARTS = 4
LONG_AGO = timezone.now() - timedelta(days=2)


def measure_half(version: DatasetVersion) -> None:
    """Finish some parts of a run; another is leased by a worker that has gone."""
    run = create_run(
        version=version,
        algorithms="toppop,puresvd:factors=5,corngr:neighbours=9,ease",
        split={"name": "probe", "share": 0.2},
        protocol={"name": "one-plus-random", "negatives": 10},
        reserve=0.0,
        seed=2,
    )
    for _ in range(DONE_PARTS):
        part = lease_part(run=run)
        assert part is not None
        execute(part=part)
    left = lease_part(run=run)
    assert left is not None
    RunPart.objects.filter(pk=left.pk).update(lease="gone:1:a", leased_until=LONG_AGO)


def queue_jobs(study: Study) -> None:
    open_outcomes(study=study, reason="A test of upgrades.", actor=get_user_model().objects.get())
    request_export(study=study, kind="wide", options=Options())
    left = request_export(study=study, kind="long", options=Options())
    ExportJob.objects.filter(pk=left.pk).update(status="running", lease="gone:1:b", leased_until=LONG_AGO, attempts=1)
    request_report(study=study)


def main() -> None:
    study = Study.objects.get()
    assert study.dataset_version is not None
    measure_half(study.dataset_version)
    queue_jobs(study)


main()
