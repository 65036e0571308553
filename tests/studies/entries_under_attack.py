"""A program, run by test_entries_under_attack.py on one database after the other: floods, and an honest rush.

The clock is moved, so that half an hour takes seconds. It prints one JSON object of what it found; the test says what
is right.
"""

# ruff: noqa: I001 - the first import from the tests sets Django up

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from datetime import datetime, timedelta, UTC
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.studies.hundred_at_once import counts, places_shared

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import setup_test_environment
from django.utils import timezone

from core import rate_limits
from studies.allocation.selectors.allocations import replayed_log
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.participation.services.consenting import consent
from studies.participation.services.enrolment import accept_about
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services.entry_gate import is_full
from studies.participation.services.ratings import rate_item
from studies.participation.services.resuming import resume
from studies.recruitment.services.recruitment import set_limits
from tests.factories.studies import ABOUT, items_of, make_study, recruit_on_prolific
from tests.factories.walking import Person


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 12, tzinfo=UTC)
        timezone.now = lambda: self.now
        rate_limits.time = SimpleNamespace(time=lambda: self.now.timestamp())  # type: ignore[assignment]

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def new_study(slug: str, places: int, like: Study | None = None) -> Study:
    study = make_study(slug=slug, per_condition=places // 2, run=like.run if like else None, seed=3)
    set_limits(study=study, progress_minutes=10)
    return study


def walk_in(study: Study, network: str) -> tuple[str, str]:
    """A script gives consent, tells about a person and rates one item; the token and the network."""
    key = f"{random.getrandbits(200):050d}"
    entry = consent(EntryAttempt(study=study, entry_key=key, network=network))
    person = accept_about(participant=entry.participant, answers=ABOUT)
    if person.status == ParticipantStatus.ACTIVE:
        rate_item(participant=person, item=items_of(study, 1)[0], rating=3)
    return entry.token, network


def held(study: Study) -> int:
    return study.participants.filter(status="active", place__isnull=False).count()


def two_addresses(clock: Clock, study: Study) -> dict[str, Any]:
    """Sixty entries each in ten seconds, which come back again and again for twenty minutes."""
    most = 0
    walks = []
    for n in range(120):
        walks.append(walk_in(study, f"198.51.100.{n % 2}"))
        clock.pass_by(0.08)
    for _round in range(24):
        most = max(most, held(study))
        clock.pass_by(50)
        for token, network in walks[_round % 4 :: 4]:
            resume(token=token, network=network)
    study.refresh_from_db()
    return {"most": max(most, held(study)), "status": study.status, "replayed": replayed_log(study, Mode.LIVE).problem}


def after_an_attack(clock: Clock, study: Study) -> dict[str, Any]:
    """Scripts of many networks hold every place and stop; as many people come and wait."""
    attackers = [walk_in(study, f"203.0.113.{n // 4}") for n in range(84)]
    taken = held(study)
    clock.pass_by(300)
    door, people = [], []
    for n in range(84):
        door.append(is_full(study, Mode.LIVE))
        people.append(walk_in(study, f"192.0.2.{n // 4}"))
        clock.pass_by(0.5)
    for _round in range(6):
        clock.pass_by(43)
        for token, network in people:
            resume(token=token, network=network)
    honest = [resume(token=token).status for token, _network in people]
    returned = Counter(resume(token=token, network=network).status for token, network in attackers)
    study.refresh_from_db()
    return {
        "taken": taken,
        "door": any(door),
        "seconds": (clock.now - datetime(2026, 3, 2, 12, tzinfo=UTC)).total_seconds(),
        "honest": Counter(honest),
        "returned": returned,
        "counts": counts(study),
        "shared": places_shared(study),
        "status": study.status,
        "replayed": replayed_log(study, Mode.LIVE).problem,
    }


class Honest:
    """Somebody whom a panel sends, in a browser."""

    def __init__(self, study: Study, number: int, *, is_eligible: bool) -> None:
        client = Client(REMOTE_ADDR=f"198.51.100.{number % 40}")
        self.is_eligible, self.arrived_at = is_eligible, timezone.now()
        self.person = Person(study, client, answers={"age": "30" if is_eligible else "99"})
        pages = self.person.pages(f"/s/{study.slug}/?PROLIFIC_PID=p{number}&STUDY_ID=s&SESSION_ID=x")
        steps = [page.step for page in islice(pages, 3 if is_eligible else 4)]
        assert steps[:2] == ["consent", "about"], steps

    def poll(self) -> bool:
        """Whether they are led on to the next page."""
        return self.person.get("about/").headers.get("Location", "").endswith("/rate/")


def a_rush(clock: Clock, study: Study) -> dict[str, Any]:
    """Three hundred people of a panel within five minutes from forty addresses; six in ten are screened out."""
    recruit_on_prolific(study)
    eligible = [n % 5 < 2 for n in range(300)]
    random.Random(7).shuffle(eligible)
    waiting: list[Honest] = []
    waits: list[float] = []
    statuses = set()
    for second in range(300 + 180):
        if second < 300:
            person = Honest(study, second, is_eligible=eligible[second])
            if person.is_eligible:
                waiting.append(person)
        if second % 10 == 0:
            for person in [each for each in waiting if each.poll()]:
                waits.append((clock.now - person.arrived_at).total_seconds())
                waiting.remove(person)
            statuses.add(Study.objects.get(pk=study.pk).status)
        clock.pass_by(1)
    found = Counter(study.participants.values_list("status", flat=True))
    return {
        "statuses": sorted(statuses),
        "found": found,
        "longest": max(waits),
        "placed": len(waits),
        "spread": max(counts(study)) - min(counts(study)),
        "replayed": replayed_log(study, Mode.LIVE).problem,
    }


def main() -> None:
    setup_test_environment()
    call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    first = new_study("two-addresses", 84)
    found = {
        "vendor": connection.vendor,
        "redis": bool(settings.REDIS_URL),
        "two_addresses": two_addresses(Clock(), first),
        "after_an_attack": after_an_attack(Clock(), new_study("after-an-attack", 84, first)),
        "a_rush": a_rush(Clock(), new_study("a-rush", 210, first)),
    }
    assert not Participant.objects.filter(network__contains="198.51").exists()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
