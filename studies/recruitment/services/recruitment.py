"""Recruiting settings: panel, entrance, exits, guests and personal links; every change is logged."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import DataError, ParallaxError, ParameterError
from core.transitions import record
from studies.allocation.services.slots import locked_study
from studies.enums import Entrance, StudyStatus
from studies.models import Guest, Interview, PersonalLink, Recruiting, Study
from studies.recruitment.panels.exits import OUTCOMES, Exit, checked_exit, code_problems, exits_from
from studies.recruitment.panels.sites import NONE, panel_of
from studies.recruitment.panels.submissions import MOST_ENTRIES, entries_of
from studies.recruitment.selectors.recruitment import InterviewPlace, unused_links
from studies.recruitment.services.tokens import digest_of_key, new_signing_key, signed_query
from studies.team.selectors.studies import readable_studies

LONGEST_GAP = 60 * 24 * 366  # minutes
LONGEST_ID = 500
MOST_ENTERING = 100_000  # participants within ten minutes, of any limit
MOST_PROGRESS_MINUTES = 24 * 60
LONGEST_LABEL = 200
LONGEST_PLACE = 200
PLACE_CODE = re.compile(r"[a-z0-9][a-z0-9_-]{0,19}")


def _row(study: Study) -> Recruiting:
    locked_study(study.pk)
    return Recruiting.objects.get_or_create(study=study)[0]


@transaction.atomic
def set_panel(
    *,
    study: Study,
    panel: str,
    entrance: str = "",
    names: Mapping[str, Sequence[str]] | None = None,
    longest_gap_minutes: int | None = None,
    actor: Any = None,
) -> Recruiting:
    """Set the panel and the entrance; `names` are the generic panel's parameters.

    Without an `entrance`, participants need the panel's id, or the study's link where there is no panel.
    The exit codes of a draft are not checked before its launch.

    Raises `recruiting.bad_panel`, `recruiting.bad_entrance`, `recruiting.bad_gap`, `recruiting.fixed_codes_only`.
    """
    row = _row(study)
    own = {name: list(parameters) for name, parameters in (names or {}).items() if parameters}
    try:
        chosen = panel_of(panel, own)
    except ParameterError as problem:
        raise ParallaxError("recruiting.bad_panel", str(problem)) from problem
    entrance = entrance or (Entrance.OPEN if panel == NONE else Entrance.PANEL_ID)
    if entrance not in Entrance or entrance == Entrance.INTERVIEW:
        raise ParallaxError(
            "recruiting.bad_entrance",
            f"Participants enter by open, personal or signed link, guest list or panel id; got {entrance!r}.",
        )
    if entrance == Entrance.PANEL_ID and panel == NONE:
        raise ParallaxError(
            "recruiting.bad_entrance", "Links carry no panel id without a panel. Choose the panel, or another entrance."
        )
    if longest_gap_minutes is not None and not 1 <= longest_gap_minutes <= LONGEST_GAP:
        raise ParallaxError("recruiting.bad_gap", f"The longest gap is 1 to {LONGEST_GAP:,} minutes, or unlimited.")
    problems = code_problems(exits_from(row.exits, chosen), chosen)
    if problems and study.status != StudyStatus.DRAFT:
        raise ParallaxError("recruiting.fixed_codes_only", " ".join(problems), {"problems": problems})
    before = (row.panel, row.names, row.entrance, row.longest_gap_minutes)
    row.panel, row.names, row.entrance = panel, own if panel == "generic" else {}, entrance
    row.longest_gap_minutes = longest_gap_minutes
    if entrance == Entrance.SIGNED and not row.signing_key:
        row.signing_key = new_signing_key()
    if before != (row.panel, row.names, row.entrance, row.longest_gap_minutes):
        row.save()
        gap = "no limit" if longest_gap_minutes is None else f"{longest_gap_minutes} minutes"
        reason = f"Recruiting: {chosen.name}, {Entrance(entrance).label.lower()}, longest gap {gap}."
        record(study, reason=reason, actor=actor, panel=panel, entrance=entrance)
    return row


def _close_open_link(row: Recruiting, entrance: str, actor: Any) -> None:
    # Once there are links or a list, only invited people enter a draft.
    # Personal links also work beside a panel; a list of ids or signatures is of no use where other ids enter.
    replaced = (Entrance.OPEN,) if entrance == Entrance.PERSONAL else (Entrance.OPEN, Entrance.PANEL_ID)
    if row.study.status == StudyStatus.DRAFT and row.entrance in replaced:
        row.entrance = entrance
        row.save()
        reason = f"Recruiting: {Entrance(entrance).label.lower()} required."
        record(row.study, reason=reason, actor=actor, entrance=entrance)


@transaction.atomic
def exclude_studies(*, study: Study, slugs: Sequence[str], actor: Any) -> Recruiting:
    """Exclude participants of these studies, identified by panel id; logged.

    Researchers choose among the studies that they own or analyse; other owners' exclusions are kept.
    Raises `recruiting.unknown_study`.
    """
    row = _row(study)
    readable = {candidate.slug: candidate.pk for candidate in readable_studies(actor).exclude(pk=study.pk)}
    if unknown := sorted(set(slugs) - set(readable)):
        raise ParallaxError(
            "recruiting.unknown_study", f"You do not own or analyse a study {unknown[0]!r}. Choose one of your studies."
        )
    unreadable = [pk for pk in row.excluded_studies if pk not in readable.values()]
    after = sorted({*unreadable, *(readable[slug] for slug in slugs)})
    if after != row.excluded_studies:
        row.excluded_studies = after
        row.save()
        excluded = list(Study.objects.filter(pk__in=after).order_by("slug").values_list("slug", flat=True))
        rule = f"participants of {', '.join(excluded)} are excluded" if excluded else "no other study is excluded"
        record(study, reason=f"Recruiting: {rule}.", actor=actor, excluded_studies=after)
    return row


@transaction.atomic
def set_limits(
    *,
    study: Study,
    most_per_network: int | None = None,
    pause_at: int | None = None,
    progress_minutes: int = 10,
    actor: Any = None,
) -> Recruiting:
    """Set the entry limits within ten minutes: participants per network, and the number that pauses the study; and how
    long a slot without progress is held while others wait.

    None means the default of `entry_limits`. Raises `recruiting.bad_limit`.
    """
    row = _row(study)
    for limit in (most_per_network, pause_at):
        if limit is not None and not 1 <= limit <= MOST_ENTERING:
            raise ParallaxError("recruiting.bad_limit", f"A limit is a number from 1 to {MOST_ENTERING:,}.")
    if not 1 <= progress_minutes <= MOST_PROGRESS_MINUTES:
        text = f"A slot is held for 1 to {MOST_PROGRESS_MINUTES:,} minutes without progress."
        raise ParallaxError("recruiting.bad_limit", text)
    after = (most_per_network, pause_at, progress_minutes)
    if (row.most_per_network, row.pause_at, row.progress_minutes) != after:
        row.most_per_network, row.pause_at, row.progress_minutes = after
        row.save()
        numbers = ["default" if limit is None else f"{limit:,}" for limit in (most_per_network, pause_at)]
        reason = f"Entry limits within ten minutes: per network {numbers[0]}, automatic pause at {numbers[1]}."
        reason += f" Slots without progress yield after {progress_minutes} min."
        limits = {"most_per_network": most_per_network, "pause_at": pause_at, "progress_minutes": progress_minutes}
        record(study, reason=reason, actor=actor, **limits)
    return row


@transaction.atomic
def set_exits(*, study: Study, exits: Mapping[str, Exit], actor: Any = None) -> Recruiting:
    """Set exits by outcome; others are unchanged.

    Raises `recruiting.bad_exit`, whose message begins with the outcome.
    """
    row = _row(study)
    panel = panel_of(row.panel, row.names)
    current = dict(exits_from(row.exits, panel))
    for outcome, exit_ in exits.items():
        try:
            current[outcome] = checked_exit(outcome, exit_, panel)
        except ParameterError as problem:
            label = outcome.replace("_", " ")
            raise ParallaxError("recruiting.bad_exit", f"Exit “{label}”: {problem}", {"outcome": outcome}) from problem
    after = {outcome: asdict(current[outcome]) for outcome in OUTCOMES}
    changed = [outcome for outcome in OUTCOMES if after[outcome] != row.exits.get(outcome)]
    if changed:
        row.exits = after
        row.save()
        record(study, reason=f"Exits changed: {', '.join(changed).replace('_', ' ')}.", actor=actor)
    return row


def _entries(text: str, longest: int) -> tuple[str, ...]:
    try:
        return entries_of(text, longest)
    except DataError as problem:
        raise ParallaxError("recruiting.bad_list", str(problem)) from problem


@transaction.atomic
def set_guests(*, study: Study, text: str, actor: Any = None) -> int:
    """Replace the guest list by the ids in `text`, one per line, and return their number. Raises `recruiting.bad_list`.

    Participants who have already entered are not affected.
    """
    row = _row(study)
    listed = _entries(text, LONGEST_ID)
    current = set(study.guests.values_list("value", flat=True))
    removed = current.difference(listed)
    if removed:
        Guest.objects.filter(study=study, value__in=removed).delete()
    Guest.objects.bulk_create(Guest(study=study, value=value) for value in listed if value not in current)
    if removed or len(listed) > len(current):
        record(study, reason=f"The guest list has {len(listed):,} ids.", actor=actor, n=len(listed))
    if listed and not current:
        _close_open_link(row, Entrance.GUEST, actor)
    return len(listed)


@transaction.atomic
def create_links(*, study: Study, n: int = 0, text: str = "", actor: Any = None) -> list[tuple[PersonalLink, str]]:
    """Create personal links, `n` of them or one for each entry of a list, and return them with their keys.

    Keys are only available here: the database stores their digests. Raises `recruiting.bad_number`,
    `recruiting.bad_list`.
    """
    labels = list(_entries(text, LONGEST_LABEL)) if text.strip() else [""] * n
    if not 1 <= len(labels) <= MOST_ENTRIES:
        raise ParallaxError(
            "recruiting.bad_number", f"Create 1 to {MOST_ENTRIES:,} links at once; got {len(labels):,}."
        )
    row = _row(study)
    if not study.personal_links.filter(interview__isnull=True).exists():
        _close_open_link(row, Entrance.PERSONAL, actor)
    keys = [secrets.token_urlsafe(24) for _ in labels]
    links = PersonalLink.objects.bulk_create(
        PersonalLink(study=study, digest=digest_of_key(key), label=label, made_by=actor)
        for key, label in zip(keys, labels, strict=True)
    )
    record(study, reason=f"{len(links):,} personal links created.", actor=actor, n=len(links))
    return list(zip(links, keys, strict=True))


@transaction.atomic
def create_signed_links(
    *, study: Study, text: str, replace_key: bool = False, actor: Any = None
) -> list[tuple[str, str]]:
    """Sign the ids in `text`, one per line, and return them with the query strings of their links.

    A replaced key makes all earlier links invalid. Raises `recruiting.bad_list`.
    """
    row = _row(study)
    ids = _entries(text, LONGEST_ID)
    if not ids:
        raise ParallaxError("recruiting.bad_list", "Enter or upload at least one id.")
    if is_first := not row.signing_key:
        _close_open_link(row, Entrance.SIGNED, actor)
    if is_first or replace_key:
        row.signing_key = new_signing_key()
        row.save()
    reason = f"{len(ids):,} signed links created{' with a new key' if replace_key else ''}."
    record(study, reason=reason, actor=actor, n=len(ids), replace_key=replace_key)
    panel = panel_of(row.panel, row.names)
    return [(value, signed_query(panel, row.signing_key, value)) for value in ids]


@transaction.atomic
def close_unused_links(*, study: Study, actor: Any = None) -> int:
    """Close all unused personal links, and return their number."""
    locked_study(study.pk)
    n = PersonalLink.objects.filter(pk__in=list(unused_links(study).values_list("pk", flat=True))).update(
        closed_at=timezone.now()
    )
    if n:
        record(study, reason=f"{n:,} unused personal links closed.", actor=actor, n=n)
    return n


@transaction.atomic
def set_places(*, study: Study, places: Sequence[InterviewPlace], actor: Any = None) -> Recruiting:
    """Set the places of interviews; logged. The code of a place where sessions were held stays.

    Raises `places.bad_code`, `places.used_twice`, `places.no_label`, `places.in_use`.
    """
    codes = [place.code for place in places]
    for place in places:
        if not PLACE_CODE.fullmatch(place.code):
            raise ParallaxError(
                "places.bad_code",
                f"{place.code!r} is not a valid code. Use 1 to 20 lower-case letters, digits, hyphens and underscores.",
            )
        if codes.count(place.code) > 1:
            raise ParallaxError("places.used_twice", f"The code {place.code!r} is used twice.")
        if not place.label or len(place.label) > LONGEST_PLACE:
            raise ParallaxError(
                "places.no_label", f"The place {place.code!r} needs a label of 1 to {LONGEST_PLACE} characters."
            )
    row = _row(study)
    interviews = Interview.objects.filter(study=study, place__in=[known["code"] for known in row.places])
    if lost := sorted(set(interviews.values_list("place", flat=True)) - set(codes)):
        raise ParallaxError(
            "places.in_use", f"Sessions were held at {', '.join(lost)}. Keep the code; its label may change."
        )
    after = [{"code": place.code, "label": place.label} for place in places]
    if row.places != after:
        row.places = after
        row.save()
        record(study, reason=f"Places of interviews: {', '.join(codes) or 'none'}.", actor=actor, places=after)
    return row
