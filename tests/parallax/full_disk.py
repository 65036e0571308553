"""A program, run by test_full_disk.py in a PARALLAX_VAR on a small file system, which it fills."""

# ruff: noqa: I001 - the first import from the tests sets Django up

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.studies.hundred_at_once import study_of_seven
from tests.parallax.full_disk_filling import fill

from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from core.models import RateCount
from studies.models import Notice, Participant, StudyMembership
from studies.monitoring.services.notice_rules import notify_due
from tests.factories.accounts import UserFactory
from tests.factories.walking import Person


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    study = study_of_seven("full", 20)
    owner = UserFactory()
    StudyMembership.objects.create(study=study, researcher=owner, role="owner")
    visitor = {"raise_request_exception": False, "headers": {"host": "localhost"}}
    person = Person(study, Client(**visitor)).to("rate")
    console = Client(**visitor)
    console.force_login(owner)
    notify_due()
    notices = [notice.text for notice in Notice.objects.filter(study=study, key__startswith="disk:")]
    found: dict[str, Any] = {"vendor": "sqlite", "notices": notices, "ready_before": console.get("/ready/").json()}
    cache.clear()
    RateCount.objects.all().delete()
    Participant.objects.update(last_seen_at="2026-01-01T00:00:00Z")
    fill(Path(settings.VAR_DIR))
    ready = console.get("/ready/")
    found["ready"] = [ready.status_code, *ready.json()["reasons"]]
    found["get"] = {
        path: client.get(path).status_code
        for client, path in (
            (Client(**visitor), f"/s/{study.slug}/"), (person.client, f"{person.base}rate/"),
            (person.client, f"{person.base}rate/?q=a"), (Client(**visitor), "/account/sign-in/"),
            (console, "/"), (console, f"/studies/{study.slug}/"), (console, "/health/"), (console, "/api/v1/studies/"),
        )
    }  # fmt: skip
    fields = {"entry_key": "k" * 43, "choice": "yes", "box": ["1", "2", "3", "4"]}
    entered = Client(**visitor).post(f"/s/{study.slug}/", fields)
    found["post"] = [entered.status_code, "Your earlier answers are saved" in entered.text]
    (Path(settings.VAR_DIR) / "filling").unlink()
    found["after"] = Client(**visitor).post(f"/s/{study.slug}/", fields).status_code
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
