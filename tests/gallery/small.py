"""A small installation for the console's pages: one run, a study that runs, a draft, a report and one in the making."""

from __future__ import annotations

from analysis.services import build_report
from jobs.models import JobStatus
from studies.enums import Mode
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.gallery.pages import Installation
from tests.gallery.subjects import subjects_of


def small_installation() -> Installation:
    """Make it in the database of the test; its owner administers the installation, too."""
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    study = make_study(run=run)
    owner = study.memberships.get().researcher
    owner.is_superuser = owner.is_staff = True
    owner.save()
    plant(study, {"TopPop": [4, 5, 4, 5], "CorNgr": [2, 1, 2, 1], "PureSVD4": [2, 1, 3, 2]}, mode=Mode.SIMULATED)
    report = build_report(study=study, mode=Mode.SIMULATED, made_by=owner)
    request = study.jobs.create(kind="report", owner=owner, status=JobStatus.RUNNING)
    draft = make_study(slug="draft", run=run, status="draft", owner=owner)
    return Installation(owner, run, (study, draft), report, request, subjects_of(study, owner))
