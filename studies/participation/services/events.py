"""Events: recorded by the server, or sent by browsers in batches; each is stored once."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from catalog.models import Item
from core.database import optional_write
from core.errors import ParallaxError
from core.rate_limits import RateLimit, seconds_to_wait
from studies.enums import ParticipantStatus
from studies.instrument.flow import Place
from studies.instrument.outcomes import SAMPLE_PLAYED  # only in studies that record it
from studies.models import Event, Participant
from studies.participation.services.participant_state import flow_of_participant, touch
from studies.settings import PLAYED

LONGEST_KIND = 40
LARGEST_FACTS = 4000  # characters of JSON
LARGEST_BATCH = 60  # events; the script sends fewer
LARGEST_BODY = 60_000  # bytes; browsers send at most 64 KiB when a page closes
MOST_EVENTS = 20_000  # per participant, so that a faulty script cannot fill the disk
MOST_VIEWS = RateLimit(200, 3600)  # recorded views per participant: loading a page writes a row
LONGEST_SECONDS = 7 * 24 * 3600.0
PROGRESS = frozenset({"search", "details_opened", "trailer_opened"})  # as answers and new pages are
PAGE_SHOWN, PAGE_LEFT = "page_shown", "page_left"
KINDS = frozenset({PAGE_SHOWN, PAGE_LEFT})
FIELDS = frozenset({"id", "kind", "page", "rank", "occasion", "at", "seconds", "hidden_seconds", "view", "item"})
_KEY = re.compile(r"[0-9A-Za-z-]{8,36}")


def record_event(
    *,
    participant: Participant,
    kind: str,
    facts: Mapping[str, Any] | None = None,
    at: Place | None = None,
    client_at: datetime | None = None,
) -> Event:
    """Record something that happened on a page (`page_view`, `search`, `details_opened`, `trailer_opened`, …).

    Raises `study.bad_event` for an empty or long kind or for too many facts.
    """
    details = dict(facts or {})
    if not kind or len(kind) > LONGEST_KIND or len(json.dumps(details)) > LARGEST_FACTS:
        raise ParallaxError("study.bad_event", _("This event cannot be stored."), {"kind": kind[:LONGEST_KIND]})
    return Event.objects.create(
        participant=participant, kind=kind, facts=details, client_at=client_at, **({} if at is None else vars(at))
    )


def record_view(*, participant: Participant, kind: str, is_once: bool = False, **details: Any) -> Event | None:
    """Record a viewed page, search or detail; None above the rate that a person can reach, and on a full disk.

    With `is_once`, None also where the same is recorded already, whenever it was.
    """
    if is_once:
        same = {**vars(details["at"]), "facts": details["facts"]}
        if Event.objects.filter(participant=participant, kind=kind, **same).exists():
            return None
    # Counted in each process for itself: the limit protects the disk, and need not be exact.
    if seconds_to_wait(MOST_VIEWS, "views", str(participant.pk), is_shared=False):
        return None
    with optional_write(f"event {kind}"):
        if kind in PROGRESS:
            touch(participant)
        return record_event(participant=participant, kind=kind, **details)
    return None


def client_time(milliseconds: Any) -> datetime | None:
    """The browser's time, from milliseconds since 1970; None if implausible."""
    try:
        moment = datetime.fromtimestamp(float(milliseconds) / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    # Clocks of devices may be set to anything, and databases differ in the years they can store.
    return moment if 2000 <= moment.year < 2200 else None


def events_of_body(body: bytes) -> Sequence[Any]:
    """The events that the body of a request lists.

    Raises `events.too_large`, `events.unreadable`.
    """
    if len(body) > LARGEST_BODY:
        raise ParallaxError("events.too_large", f"A batch of events has at most {LARGEST_BODY:,} bytes.")
    try:
        listed = json.loads(body)["events"]
    # RecursionError: deeply nested lists are valid JSON, and cheap to send.
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ParallaxError("events.unreadable", 'A batch of events is JSON: {"events": [...]}.') from problem
    if not isinstance(listed, list):
        raise ParallaxError("events.unreadable", 'The "events" of a batch are a list.')
    if len(listed) > LARGEST_BATCH:
        raise ParallaxError("events.too_large", f"A batch has at most {LARGEST_BATCH} events; this has {len(listed)}.")
    return listed


@transaction.atomic
def store_events(*, participant_id: int, events: Sequence[Any]) -> tuple[int, dict[str, str]]:
    """Store a browser's page events, and return the number of new ones, and why others are refused by their keys.

    Events stored before are skipped.
    Events do not count as presence, since a page may have been left open. Raises
    `events.erased` once the participant's data are erased.
    """
    participant = (
        # Locked, so that no event is stored behind a withdrawal that erases them.
        Participant.objects.select_for_update(of=("self",))
        .select_related("study")
        .only("status", "erased_at", "study__updated_at", "study__settings", "study__dataset_version")
        .get(pk=participant_id)
    )
    if participant.erased_at is not None or participant.status == ParticipantStatus.WITHDRAWN:
        raise ParallaxError("events.erased", "This participant's data are erased; nothing more is kept of them.")
    refused: dict[str, str] = {}
    fresh: dict[str, Event] = {}
    for event_data in events:
        try:
            event = _checked(participant, event_data)
        except ValueError as problem:
            refused[str(event_data.get("id", ""))[:36] if isinstance(event_data, dict) else ""] = str(problem)
        else:
            fresh.setdefault(event.key, event)
    of_browser = Event.objects.filter(participant=participant).exclude(key="")
    stored = set(of_browser.filter(key__in=fresh).values_list("key", flat=True))
    fresh = {key: event for key, event in fresh.items() if key not in stored}
    if fresh and of_browser.count() + len(fresh) > MOST_EVENTS:
        refused.update(dict.fromkeys(fresh, f"There are {MOST_EVENTS:,} events of this participant already."))
        return 0, refused
    # A browser sends a batch again when the reply is lost, and both may arrive together.
    Event.objects.bulk_create(fresh.values(), ignore_conflicts=True)
    return len(fresh), refused


def _checked(participant: Participant, data: Any) -> Event:
    if not isinstance(data, dict):
        raise ValueError("An event is a JSON object.")
    if unknown := set(data) - FIELDS:
        raise ValueError(f"An event has no {', '.join(sorted(map(str, unknown)))[:80]}.")
    key, view = data.get("id"), data.get("view", "")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError("The id of an event has 8 to 36 letters, digits and dashes.")
    if not isinstance(view, str) or (view and not _KEY.fullmatch(view)):
        raise ValueError("The view of an event has 8 to 36 letters, digits and dashes.")
    kinds = {*KINDS, SAMPLE_PLAYED} if PLAYED in participant.study.design.recorded else KINDS
    if data.get("kind") not in kinds:
        raise ValueError(f"A browser tells of {' and '.join(sorted(kinds))}.")
    is_sample = data["kind"] == SAMPLE_PLAYED
    if is_sample != ("item" in data):
        raise ValueError(f"An event of the kind {SAMPLE_PLAYED} has an item, and no other.")
    pages = flow_of_participant(participant).keys
    if data.get("page") not in pages:
        raise ValueError(f"The page of an event is one of {', '.join(pages)}.")
    for name, fewest in (("rank", 0), ("occasion", 1)):
        number = data.get(name, fewest)
        if not isinstance(number, int) or isinstance(number, bool) or not fewest <= number <= 1000:
            raise ValueError(f"The {name} of an event is a whole number from {fewest}.")
    moment = client_time(data.get("at"))
    if moment is None:
        raise ValueError("The time of an event is in milliseconds since 1970.")
    seconds = _seconds(data, "seconds")
    facts: dict[str, Any] = {"view": view} if view else {}
    if is_sample:
        facts |= {"item": _item_of_study(participant, data["item"]), "seconds": seconds or 0.0}
    return Event(
        participant=participant,
        kind=data["kind"],
        key=key,
        page=data["page"],
        rank=data.get("rank", 0),
        occasion=data.get("occasion", 1),
        seconds=None if is_sample else seconds,  # of the page
        hidden_seconds=_seconds(data, "hidden_seconds"),
        facts=facts,
        client_at=moment,
    )


def _item_of_study(participant: Participant, item: Any) -> str:
    items = Item.objects.filter(version=participant.study.dataset_version_id, external_id=item)
    if not isinstance(item, str) or not items.exists():
        raise ValueError("The item of an event is one of the study's dataset, by the dataset's own id.")
    return item


def _seconds(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= LONGEST_SECONDS:
        raise ValueError(f"The {name} of an event are a number from 0 to {LONGEST_SECONDS:g}.")
    return round(float(value), 3)
