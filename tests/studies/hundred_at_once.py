"""A program, run by test_concurrency.py on one database after the other: a hundred people at the same instant.

It prints one JSON object of what it found; the test says what is right.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
warnings.simplefilter("error")

import django  # noqa: E402
from django.conf import settings  # noqa: E402


class _NoMigrations(dict[str, None]):
    """Tables are made from the models, as they stand in the code that is tested."""

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> None:
        return None


settings.MIGRATION_MODULES = _NoMigrations()
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.db.models import Count  # noqa: E402
from django.utils import timezone  # noqa: E402

from studies.allocation.selectors.allocations import replayed_log  # noqa: E402
from studies.design.services.launch import launch_study  # noqa: E402
from studies.enums import Mode, ParticipantStatus  # noqa: E402
from studies.instrument.flow import Place  # noqa: E402
from studies.models import Participant, RecommendationList, Study  # noqa: E402
from studies.participation.services import (  # noqa: E402
    consenting,
    enrolment,
    finishing,
    ratings,
    recommending,
    resuming,
)
from studies.participation.services.entry_gate import EntryAttempt  # noqa: E402
from studies.participation.services.slot_queue import release_idle  # noqa: E402
from studies.recruitment.services.recruitment import MOST_ENTERING, set_limits  # noqa: E402
from tests.factories import answering  # noqa: E402
from tests.factories.studies import ABOUT, add_conditions, assigned, enter, items_of, make_study  # noqa: E402

N = 100
GENDERS = ("woman", "man", "not_said", "woman", "man")
AGES = (22, 41, 33, 48)
WOMEN = {"name": "women", "most": 12, "where": [{"question": "gender", "values": ["woman"]}]}


def about(number: int) -> dict[str, Any]:
    return {**ABOUT, "gender": GENDERS[number % len(GENDERS)], "age": AGES[number % len(AGES)]}


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Start every call at the same instant, each in a thread and on a connection of its own."""
    barrier = threading.Barrier(len(calls))
    gate = threading.BoundedSemaphore(most_connections())
    results: list[Any] = [None] * len(calls)

    def work(number: int, call: Callable[[], Any]) -> None:
        barrier.wait()
        with gate:
            try:
                results[number] = call()
            except Exception as fault:
                results[number] = fault
            finally:
                connections.close_all()

    threads = [threading.Thread(target=work, args=(i, call)) for i, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def most_connections() -> int:
    """A database server takes so many connections and no more; a pool before it makes the others wait.

    Half of what is free: another file of tests may do the same on the same server at the same time.
    """
    if connection.vendor != "postgresql":
        return N
    with connection.cursor() as cursor:
        cursor.execute("SHOW max_connections")
        return max(2, (int(cursor.fetchone()[0]) - 40) // 2)


def faults(results: list[Any]) -> list[str]:
    return [repr(result) for result in results if isinstance(result, Exception)]


def counts(study: Study, mode: str = Mode.LIVE) -> list[int]:
    held = study.participants.filter(mode=mode, status__in=["active", "completed"])
    found = Counter(held.values_list("condition__position", flat=True))
    return [found[position] for position in range(study.conditions.count())]


def spreads(study: Study) -> list[int]:
    """In each stratum, the largest difference between two conditions that are not full."""
    totals = counts(study)
    targets = list(study.conditions.order_by("position").values_list("target", flat=True))
    rows = (
        study.participants.filter(mode=Mode.LIVE, status__in=["active", "completed"])
        .order_by()
        .values_list("stratum", "condition__position")
        .annotate(n=Count("pk"))
    )
    by_stratum: dict[str, Counter[int]] = {}
    for stratum, position, n in rows:
        by_stratum.setdefault(stratum, Counter())[position] = n
    differences = []
    for found in by_stratum.values():
        open_ones = [found[p] for p in range(len(totals)) if totals[p] < targets[p]]
        if open_ones:
            differences.append(max(open_ones) - min(open_ones))
    return differences


def places_shared(study: Study) -> int:
    held = list(study.participants.filter(place__isnull=False).values_list("mode", "stratum", "place"))
    return len(held) - len(set(held))


def study_of_seven(slug: str, target: int, like: Study | None = None, **settings: Any) -> Study:
    run = like.run if like else None
    study = make_study(slug=slug, status="draft", per_condition=target, run=run, settings=settings)
    add_conditions(study, 7)
    launch_study(study=study)
    set_limits(study=study, most_per_network=MOST_ENTERING, pause_at=MOST_ENTERING)  # a crowd is what is tested
    study.refresh_from_db()
    return study


def fill(study: Study, n_at_once: int = N) -> dict[str, Any]:
    """Ten people for every seven slots, half of them at the same instant and then the other half."""
    entered = at_once([lambda: enter(study) for _ in range(n_at_once)])
    people = [entry.participant for entry in entered]
    first = at_once(
        [lambda p=p, n=n: enrolment.accept_about(participant=p, answers=about(n)) for n, p in enumerate(people)]
    )
    halfway = {"counts": counts(study), "spreads": spreads(study), "shared": places_shared(study)}
    second = at_once([lambda n=n: assigned(study, **about(n)) for n in range(n_at_once)])
    return {
        "faults": faults(entered) + faults(first) + faults(second),
        "halfway": halfway,
        "statuses": Counter(study.participants.values_list("status", flat=True)),
        "counts": counts(study),
        "shared": places_shared(study),
        "logged": Counter(study.allocations.values_list("kind", flat=True)),
        "replayed": replayed_log(study, Mode.LIVE).problem,
    }


def come_and_go(study: Study, n_slots: int = 42) -> dict[str, Any]:
    """Five of seven went idle; the sweep, their return and as many newcomers as slots meet at the same instant."""
    n_idle = n_slots * 5 // 7
    entries = [enter(study) for _ in range(n_slots)]
    for number, entry in enumerate(entries):
        enrolment.accept_about(participant=entry.participant, answers=about(number))
    idle = [entry.participant.pk for entry in entries[:n_idle]]
    Participant.objects.filter(pk__in=idle).update(last_seen_at=timezone.now() - timedelta(hours=2))
    sweeps = [release_idle] * 5
    returns = [lambda token=entry.token: resuming.resume(token=token) for entry in entries[:n_idle]]
    newcomers = [lambda n=n: assigned(study, **about(n)) for n in range(n_slots)]
    during = at_once([*sweeps, *returns, *newcomers])
    release_idle()
    after = {"counts": counts(study), "shared": places_shared(study)}
    last = at_once([lambda n=n: assigned(study, **about(n)) for n in range(n_slots + n_slots // 2)])
    kinds = Counter(study.allocations.values_list("kind", flat=True))
    return {
        "faults": faults(during) + faults(last),
        "after": after,
        "counts": counts(study),
        "shared": places_shared(study),
        "replayed": replayed_log(study, Mode.LIVE).problem,
        "held_by_log": kinds["assigned"] + kinds["retaken"] - kinds["released"],
        "quota_full": study.participants.filter(status=ParticipantStatus.QUOTA_FULL).count(),
    }


def pressed_again(study: Study) -> dict[str, Any]:
    """Everything one participant does, pressed twenty times at the same instant."""
    entered = at_once([lambda: consenting.consent(EntryAttempt(study=study, entry_key="k" * 43))] * 20)
    people = {entry.participant.pk for entry in entered}
    person = entered[0].participant

    def own() -> Participant:
        """The participant as a request of its own reads them."""
        return Participant.objects.select_related("study").get(pk=person.pk)

    accepted = at_once([lambda: enrolment.accept_about(participant=own(), answers=ABOUT)] * 20)
    person.refresh_from_db()
    rated = []
    for item in items_of(study, 5):
        rated += at_once([lambda item=item: ratings.rate_item(participant=own(), item=item, rating=4)] * 8)
    lists = at_once([lambda: recommending.finish_rating(participant=own())] * 20)
    finishing.leave_page(participant=own(), at=Place("recommendations"))
    given = []
    for rank in range(1, 6):
        for question in ("watched", "rating"):
            value = True if question == "watched" else 3
            given += at_once(
                [lambda q=question, v=value, r=rank: answering.answer(participant=own(), question=q, value=v, rank=r)]
                * 6
            )
        given += at_once([lambda r=rank: answering.finish_item(participant=own(), rank=r)] * 6)
    answering.answer(participant=own(), question="satisfaction", value=3)
    finished = at_once([lambda: answering.finish(participant=own())] * 20)
    return {
        "faults": faults([*entered, *accepted, *rated, *lists, *given, *finished]),
        "participants": len(people),
        "tokens": len({entry.token for entry in entered}),
        "allocations": study.allocations.filter(participant=person).count(),
        "ratings": person.profile.count(),
        "lists": RecommendationList.objects.filter(participant=person).count(),
        "same_list": len({made.pk for made in lists}),
        "answers": person.responses.filter(rank__gt=0).count(),
        "codes": len({done.completion_code for done in finished}),
        "changes": sum(person.responses.values_list("n_changes", flat=True)),
    }


def quotas(study: Study) -> dict[str, Any]:
    """A hundred at once, of whom sixty would fill a quota of twelve."""
    done = at_once([lambda n=n: assigned(study, **about(n)) for n in range(N)])
    held = study.participants.filter(mode=Mode.LIVE, status="active")
    women = held.filter(responses__question="gender", responses__value="woman").count()
    return {"faults": faults(done), "women": women, "others": held.count() - women, "counts": counts(study)}


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    first = study_of_seven("fill", 20)
    found = {
        "vendor": connection.vendor,
        "database": str(connection.settings_dict["NAME"]),
        "fill": fill(first),
        "come_and_go": come_and_go(study_of_seven("come-and-go", 6, first)),
        "pressed_again": pressed_again(study_of_seven("pressed-again", 6, first)),
        "quotas": quotas(study_of_seven("quotas", 20, first, quotas=[WOMEN])),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
