"""All integrity checks, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from parallax.integrity.answers import check_answers, check_exports, check_settings
from parallax.integrity.artefacts import check_algorithms, check_artefacts, check_pins
from parallax.integrity.findings import Finding
from parallax.integrity.runs import check_runs
from parallax.integrity.slots import check_slots
from studies.models import Study

Progress = Callable[[str], None]


def findings(progress: Progress = lambda words: None) -> Iterator[Finding]:
    """All problems of this installation; nothing is changed."""
    progress("Runs and their parts")
    yield from check_runs()
    progress("Artefacts")
    yield from check_artefacts()
    progress("Algorithms of models")
    yield from check_algorithms()
    progress("What studies pinned")
    yield from check_pins()
    for study in Study.objects.select_related("dataset_version__dataset", "run").order_by("pk"):
        progress(f"Study {study.slug}: settings")
        yield from check_settings(study)
        progress(f"Study {study.slug}: answers")
        yield from check_answers(study)
        progress(f"Study {study.slug}: slots")
        yield from check_slots(study)
        progress(f"Study {study.slug}: exports")
        yield from check_exports(study)
