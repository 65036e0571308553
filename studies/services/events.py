"""Events: what the server notes on a page, and what browsers tell in batches, each event stored once."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from core.networks import RateLimit, seconds_to_wait
from studies.enums import ParticipantStatus
from studies.flow import STEPS
from studies.models import Event, Participant
from studies.selectors.compiled import Inserted

LONGEST_KIND = 40
LARGEST_FACTS = 4000  # characters of JSON
LARGEST_BATCH = 60  # events; the script sends fewer
LARGEST_BODY = 60_000  # bytes; browsers take 64 KiB for what outlives a page
MOST_EVENTS = 20_000  # of one participant's browsers: a script gone wild fills no disk
MOST_VIEWS = RateLimit(200, 3600)  # noted of one participant's requests that only look: loading a page writes a row
LONGEST_SECONDS = 7 * 24 * 3600.0
PAGE_SHOWN, PAGE_LEFT = "page_shown", "page_left"
KINDS = frozenset({PAGE_SHOWN, PAGE_LEFT})
FIELDS = frozenset({"id", "kind", "page", "rank", "at", "seconds", "hidden_seconds", "view"})
_new_events = Inserted(Event)
_KEY = re.compile(r"[0-9A-Za-z-]{8,36}")


@dataclass(frozen=True)
class Taken:
    """What became of a batch: how many were new, and why some were refused, by the browser's key."""

    n_new: int
    refused: dict[str, str]


def record_event(
    *,
    participant: Participant,
    kind: str,
    facts: Mapping[str, Any] | None = None,
    page: str = "",
    rank: int = 0,
    client_at: datetime | None = None,
) -> Event:
    """Note something that happened on a page (`page_view`, `search`, `details_opened`, `trailer_opened`, …).

    Raises `study.bad_event` for an empty or long kind or for more facts than a page has to tell.
    """
    given = dict(facts or {})
    if not kind or len(kind) > LONGEST_KIND or len(json.dumps(given)) > LARGEST_FACTS:
        raise ParallaxError("study.bad_event", _("This event cannot be stored."), {"kind": kind[:LONGEST_KIND]})
    return _new_events.insert(
        Event(participant=participant, kind=kind, facts=given, page=page, rank=rank, client_at=client_at)
    )


def record_view(*, participant: Participant, kind: str, **given: Any) -> Event | None:
    """Note a page, search or detail that a participant looked at; None where there are too many to be a person's."""
    if seconds_to_wait(MOST_VIEWS, "views", str(participant.pk), is_shared=False):
        return None
    return record_event(participant=participant, kind=kind, **given)


def client_time(told: Any) -> datetime | None:
    """The browser's clock as it told it, in milliseconds since 1970, or None where that is no time of ours."""
    try:
        moment = datetime.fromtimestamp(float(told) / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return moment if 2000 <= moment.year < 2200 else None


def events_of_body(body: bytes) -> Sequence[Any]:
    """The events that the body of a request lists.

    Raises `events.too_large`, `events.unreadable`.
    """
    if len(body) > LARGEST_BODY:
        raise ParallaxError("events.too_large", f"A batch of events has at most {LARGEST_BODY:,} bytes.")
    try:
        listed = json.loads(body)["events"]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ParallaxError("events.unreadable", 'A batch of events is JSON: {"events": [...]}.') from problem
    if not isinstance(listed, list):
        raise ParallaxError("events.unreadable", 'The "events" of a batch are a list.')
    if len(listed) > LARGEST_BATCH:
        raise ParallaxError("events.too_large", f"A batch has at most {LARGEST_BATCH} events; this has {len(listed)}.")
    return listed


@transaction.atomic
def take_events(*, participant_id: int, events: Sequence[Any]) -> Taken:
    """Store what a browser tells of its participant's pages; what was stored before is left as it is.

    Nobody is brought back by it or counted as here: a page that was left open is no presence. Raises
    `events.erased` once the participant's data are erased.
    """
    participant = (
        Participant.objects.select_for_update(of=("self",)).only("pk", "status", "erased_at").get(pk=participant_id)
    )
    if participant.erased_at is not None or participant.status == ParticipantStatus.WITHDRAWN:
        raise ParallaxError("events.erased", "This participant's data are erased; nothing more is kept of them.")
    refused: dict[str, str] = {}
    fresh: dict[str, Event] = {}
    for told in events:
        try:
            event = _checked(participant, told)
        except ValueError as problem:
            refused[str(told.get("id", ""))[:36] if isinstance(told, dict) else ""] = str(problem)
        else:
            fresh.setdefault(event.key, event)
    of_browser = Event.objects.filter(participant=participant).exclude(key="")
    stored = set(of_browser.filter(key__in=fresh).values_list("key", flat=True))
    fresh = {key: event for key, event in fresh.items() if key not in stored}
    if fresh and of_browser.count() + len(fresh) > MOST_EVENTS:
        refused.update(dict.fromkeys(fresh, f"There are {MOST_EVENTS:,} events of this participant already."))
        return Taken(0, refused)
    Event.objects.bulk_create(fresh.values(), ignore_conflicts=True)
    return Taken(len(fresh), refused)


def _checked(participant: Participant, told: Any) -> Event:
    """The event as it is stored; ValueError says what is wrong with it."""
    if not isinstance(told, dict):
        raise ValueError("An event is a JSON object.")
    if unknown := set(told) - FIELDS:
        raise ValueError(f"An event has no {', '.join(sorted(map(str, unknown)))[:80]}.")
    key, view = told.get("id"), told.get("view", "")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError("The id of an event has 8 to 36 letters, digits and dashes.")
    if not isinstance(view, str) or (view and not _KEY.fullmatch(view)):
        raise ValueError("The view of an event has 8 to 36 letters, digits and dashes.")
    if told.get("kind") not in KINDS:
        raise ValueError(f"A browser tells of {' and '.join(sorted(KINDS))}.")
    if told.get("page") not in STEPS:
        raise ValueError(f"The page of an event is one of {', '.join(STEPS)}.")
    rank = told.get("rank", 0)
    if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank <= 1000:
        raise ValueError("The rank of an event is a whole number from 0.")
    moment = client_time(told.get("at"))
    if moment is None:
        raise ValueError("The time of an event is in milliseconds since 1970.")
    return Event(
        participant=participant,
        kind=told["kind"],
        key=key,
        page=told["page"],
        rank=rank,
        seconds=_seconds(told, "seconds"),
        hidden_seconds=_seconds(told, "hidden_seconds"),
        facts={"view": view} if view else {},
        client_at=moment,
    )


def _seconds(told: Mapping[str, Any], name: str) -> float | None:
    value = told.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= LONGEST_SECONDS:
        raise ValueError(f"The {name} of an event are a number from 0 to {LONGEST_SECONDS:g}.")
    return round(float(value), 3)
