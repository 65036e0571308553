"""One study with everything that databases order differently, and its report as files; run in a process of its own.

python tests/analysis/scene.py FOLDER, with DATABASE_URL and PARALLAX_VAR in the environment.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import django
from django.core.management import call_command

MADE = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
TITLE = 'Città #1: «più» $5 & *Ωmega* _x_ @home "100 %" \\ <b>'
REASONS = ("zebra", "Äpfel", "apple", "Zoo")
RATINGS = {"TopPop": (5, 4, 5, 3, 4), "CorNgr": (2, 3, 1, 2, 4), "PureSVD4": (3, 3, 2, 4, 1)}


def build(folder: Path) -> None:
    """Make the study in an empty database, and write its report."""
    from analysis.files.listing import write_report
    from analysis.models import Report
    from analysis.services import build_report
    from studies.enums import Mode, Provenance
    from studies.models import Participant, Study
    from studies.monitoring.services.exclusions import exclude
    from tests.factories.analysis import planted_person
    from tests.factories.evaluation import make_run_at
    from tests.factories.studies import make_study

    call_command("migrate", verbosity=0, interactive=False)
    study = make_study(run=make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4"))
    for number in range(6):
        for place, (label, given) in enumerate(RATINGS.items()):
            turned = [1 + (rating - 1 + (number * (rank + 1)) // 4) % 5 for rank, rating in enumerate(given)]
            planted_person(study, label, turned, 1 + (number + place) % 5, n_watched=1 + (number + place) % 3,
                           n_heard=number % 2, first_item=(number * 7 + place) % 30,
                           mode=Mode.SIMULATED, provenance=Provenance.MODELLED)  # fmt: skip
    for participant, reason in zip(Participant.objects.order_by("pk"), REASONS, strict=False):
        exclude(participant=participant, reason=reason)
    Study.objects.update(title=TITLE)
    study.refresh_from_db()
    report = build_report(study=study)
    Report.objects.update(created_at=MADE)
    report.refresh_from_db()
    write_report(report=report, folder=folder, progress=lambda words: None)


if __name__ == "__main__":
    django.setup()
    build(Path(sys.argv[1]))
