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
OF_INSTALLATION = {
    "Runs and their parts": check_runs,
    "Artefacts": check_artefacts,
    "Algorithms of models": check_algorithms,
    "What studies pinned": check_pins,
}
OF_STUDIES = {"settings": check_settings, "answers": check_answers, "slots": check_slots, "exports": check_exports}


def findings(progress: Progress = lambda words: None) -> Iterator[Finding]:
    """All problems of this installation; nothing is changed."""
    for words, check in OF_INSTALLATION.items():
        progress(words)
        yield from check()
    for study in Study.objects.select_related("dataset_version__dataset", "run").order_by("pk"):
        for words, check_study in OF_STUDIES.items():
            progress(f"Study {study.slug}: {words}")
            yield from check_study(study)
