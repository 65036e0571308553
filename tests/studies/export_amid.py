"""A program, run by test_export_amid.py on one database after the other: exports while people arrive."""

# ruff: noqa: I001 - the first import from the tests sets Django up

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.studies.hundred_at_once import study_of_seven

from django.core.management import call_command
from django.db import DatabaseError, connection

from core.database import snapshot
from studies.data.exports import export_files
from studies.data.exports.rows import Source
from studies.models import Event, Participant, Study
from tests.factories.studies import completed


def seen_through(study: Study) -> Participant:
    """Somebody who has completed the study, and looked at a page."""
    person = completed(study)
    Event.objects.create(participant=person, kind="page_view", page="thanks")
    return person


def elsewhere(act: Any) -> None:
    """Do something on a connection of its own, to the end."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]


def amid(study: Study, kind: str) -> dict[str, Any]:
    """Export while somebody completes the study each time that a table, or the flow, is begun."""
    consort_of, people, event_rows = export_files.consort_of, Source.people, Source.event_rows
    arrived: list[Participant] = []

    def arriving() -> None:
        elsewhere(lambda: arrived.append(seen_through(study)))

    def people_arriving(source: Source) -> Any:
        arriving()
        return people(source)

    def happened_arriving(source: Source) -> Any:
        arriving()
        return event_rows(source)

    def consort_arriving(*given: Any, **named: Any) -> Any:
        arriving()
        return consort_of(*given, **named)

    Source.people, Source.event_rows = people_arriving, happened_arriving  # type: ignore[method-assign]
    export_files.consort_of = consort_arriving  # type: ignore[assignment]
    before = study.participants.count()
    try:
        with tempfile.TemporaryDirectory() as name:
            files = export_files.write_export(study, kind, Path(name))
            told = {file.name: (Path(name) / file.name).read_text(encoding="utf-8") for file in files}
    finally:
        Source.people, Source.event_rows = people, event_rows  # type: ignore[method-assign]
        export_files.consort_of = consort_of
    facts = json.loads(next(text for name, text in told.items() if name.endswith("_export.json")))
    tables = {
        name.removesuffix("_data.csv").rsplit("_", 1)[1].removeprefix("description-"): list(
            csv.DictReader(io.StringIO(text))
        )
        for name, text in told.items()
        if name.endswith("_data.csv")
    }
    key = "participant.id"
    return {
        "before": before,
        "has_arrived": len(arrived) > 0,
        "stored": study.participants.count() == before + len(arrived),
        "rows": {name: len({row[key] for row in rows}) for name, rows in tables.items() if rows and key in rows[0]},
        "allotted": len(tables["allocation"]),
        "consented": facts["flow"]["live"]["consented"],
        "completed": facts["flow"]["live"]["completed"],
        "finished": facts["finished"],
    }


def writing(study: Study) -> dict[str, Any]:
    """Whether a block with one view may write, and whether it writes again afterwards."""
    people = Participant.objects.filter(study=study)
    refused = False
    try:
        with snapshot():
            people.update(place=None)
    except DatabaseError:
        refused = True
    return {"is_refused": refused, "after": people.update(language="en") == people.count()}


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    study = study_of_seven("amid", 20)
    for _ in range(2):
        seen_through(study)
    found = {
        "vendor": connection.vendor,
        "exports": [amid(study, kind) for kind in ("wide", "psych-ds")],
        "writing": writing(study),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
