"""How a study recruits: panel, entrance, exits, guests and personal links; each change is logged."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import DataError, ParallaxError, ParameterError
from core.transitions import record
from studies.enums import Entrance, StudyStatus
from studies.models import Guest, PersonalLink, Recruiting, Study
from studies.recruiting.exits import OUTCOMES, Exit, checked_exit, code_problems, exits_from
from studies.recruiting.lists import MOST_ENTRIES, entries_of
from studies.recruiting.registry import panel_of
from studies.selectors.console import readable_studies
from studies.selectors.recruiting import unused_links
from studies.services.slots import locked_study
from studies.services.tokens import digest_of_key

LONGEST_GAP = 60 * 24 * 366  # minutes
LONGEST_ID = 500
MOST_ENTERING = 100_000  # participants within ten minutes, of any limit
LONGEST_LABEL = 200


def _row(study: Study) -> Recruiting:
    locked_study(study.pk)
    return Recruiting.objects.get_or_create(study=study)[0]


@transaction.atomic
def set_panel(
    *,
    study: Study,
    panel: str,
    entrance: str,
    names: Mapping[str, Sequence[str]] | None = None,
    longest_gap_minutes: int | None = None,
    actor: Any = None,
) -> Recruiting:
    """Say where participants come from and who may enter; `names` are the generic panel's parameters.

    Of a draft the codes of the exits may come later: its launch looks at them.

    Raises `recruiting.bad_panel`, `recruiting.bad_entrance`, `recruiting.bad_gap`, `recruiting.fixed_codes_only`.
    """
    row = _row(study)
    own = {name: list(given) for name, given in (names or {}).items() if given}
    try:
        found = panel_of(panel, own)
    except ParameterError as problem:
        raise ParallaxError("recruiting.bad_panel", str(problem)) from problem
    if entrance not in (Entrance.OPEN, Entrance.PERSONAL, Entrance.GUEST):
        raise ParallaxError(
            "recruiting.bad_entrance", f"People enter by open link, personal link or guest list; got {entrance!r}."
        )
    if longest_gap_minutes is not None and not 1 <= longest_gap_minutes <= LONGEST_GAP:
        raise ParallaxError("recruiting.bad_gap", f"The longest gap has 1 to {LONGEST_GAP:,} minutes, or no limit.")
    problems = code_problems(exits_from(row.exits, found), found)
    if problems and study.status != StudyStatus.DRAFT:
        raise ParallaxError("recruiting.fixed_codes_only", " ".join(problems), {"problems": problems})
    before = (row.panel, row.names, row.entrance, row.longest_gap_minutes)
    row.panel, row.names, row.entrance = panel, own if panel == "generic" else {}, entrance
    row.longest_gap_minutes = longest_gap_minutes
    if before != (row.panel, row.names, row.entrance, row.longest_gap_minutes):
        row.save()
        gap = "no limit" if longest_gap_minutes is None else f"{longest_gap_minutes} minutes"
        reason = f"Recruiting: {found.name}, {Entrance(entrance).label.lower()}, longest gap {gap}."
        record(study, reason=reason, actor=actor, panel=panel, entrance=entrance)
    return row


@transaction.atomic
def exclude_studies(*, study: Study, slugs: Sequence[str], actor: Any) -> Recruiting:
    """Admit nobody who took part in one of these studies, by the id of the panel; logged.

    The researcher chooses among the studies that they own or analyse; what another owner chose beyond these stays.
    Raises `recruiting.unknown_study`.
    """
    row = _row(study)
    readable = {one.slug: one.pk for one in readable_studies(actor).exclude(pk=study.pk)}
    if unknown := sorted(set(slugs) - set(readable)):
        raise ParallaxError(
            "recruiting.unknown_study", f"There is no study {unknown[0]!r} among those that you own or analyse."
        )
    kept = [pk for pk in row.excluded_studies if pk not in readable.values()]
    after = sorted({*kept, *(readable[slug] for slug in slugs)})
    if after != row.excluded_studies:
        row.excluded_studies = after
        row.save()
        named = list(Study.objects.filter(pk__in=after).order_by("slug").values_list("slug", flat=True))
        rule = f"not admitted are participants of {', '.join(named)}" if named else "no other study is excluded"
        record(study, reason=f"Recruiting: {rule}.", actor=actor, excluded_studies=after)
    return row


@transaction.atomic
def set_limits(
    *, study: Study, most_per_network: int | None = None, pause_at: int | None = None, actor: Any = None
) -> Recruiting:
    """Set how many participants of one network may enter, and at how many the study is paused, within ten minutes.

    None leaves the number to `entry_limits`. Raises `recruiting.bad_limit`.
    """
    row = _row(study)
    for limit in (most_per_network, pause_at):
        if limit is not None and not 1 <= limit <= MOST_ENTERING:
            raise ParallaxError("recruiting.bad_limit", f"A limit is a number from 1 to {MOST_ENTERING:,}.")
    if (row.most_per_network, row.pause_at) != (most_per_network, pause_at):
        row.most_per_network, row.pause_at = most_per_network, pause_at
        row.save()
        numbers = ["default" if limit is None else f"{limit:,}" for limit in (most_per_network, pause_at)]
        reason = f"Entry limits within ten minutes: per network {numbers[0]}, automatic pause at {numbers[1]}."
        record(study, reason=reason, actor=actor, most_per_network=most_per_network, pause_at=pause_at)
    return row


@transaction.atomic
def set_exits(*, study: Study, exits: Mapping[str, Exit], actor: Any = None) -> Recruiting:
    """Set ways out by outcome; those that are not named stay as they are.

    Raises `recruiting.bad_exit`, whose message begins with the outcome.
    """
    row = _row(study)
    panel = panel_of(row.panel, row.names)
    kept = dict(exits_from(row.exits, panel))
    for outcome, given in exits.items():
        try:
            kept[outcome] = checked_exit(outcome, given, panel)
        except ParameterError as problem:
            told = outcome.replace("_", " ")
            raise ParallaxError("recruiting.bad_exit", f"Exit “{told}”: {problem}", {"outcome": outcome}) from problem
    after = {outcome: kept[outcome].as_settings() for outcome in OUTCOMES}
    changed = [outcome for outcome in OUTCOMES if after[outcome] != row.exits.get(outcome)]
    if changed:
        row.exits = after
        row.save()
        record(study, reason=f"Exits changed: {', '.join(one.replace('_', ' ') for one in changed)}.", actor=actor)
    return row


def _entries(text: str, longest: int) -> tuple[str, ...]:
    try:
        return entries_of(text, longest)
    except DataError as problem:
        raise ParallaxError("recruiting.bad_list", str(problem)) from problem


@transaction.atomic
def set_guests(*, study: Study, text: str, actor: Any = None) -> int:
    """Replace the guest list by the ids of a list, one a line, and count them. Raises `recruiting.bad_list`.

    Who has entered already stays, on the list or not.
    """
    locked_study(study.pk)
    wanted = _entries(text, LONGEST_ID)
    there = set(study.guests.values_list("value", flat=True))
    gone = there.difference(wanted)
    if gone:
        Guest.objects.filter(study=study, value__in=gone).delete()
    Guest.objects.bulk_create(Guest(study=study, value=value) for value in wanted if value not in there)
    if gone or len(wanted) > len(there):
        record(study, reason=f"The guest list has {len(wanted):,} ids.", actor=actor, n=len(wanted))
    return len(wanted)


@transaction.atomic
def make_links(*, study: Study, n: int = 0, text: str = "", actor: Any = None) -> list[tuple[PersonalLink, str]]:
    """Make personal links, `n` of them or one for each entry of a list, and return them with their keys.

    A key is known here only: what is kept of it is its digest. Raises `recruiting.bad_number`,
    `recruiting.bad_list`.
    """
    labels = list(_entries(text, LONGEST_LABEL)) if text.strip() else [""] * n
    if not 1 <= len(labels) <= MOST_ENTRIES:
        raise ParallaxError("recruiting.bad_number", f"Make 1 to {MOST_ENTRIES:,} links at once; got {len(labels):,}.")
    keys = [secrets.token_urlsafe(24) for _ in labels]
    made = PersonalLink.objects.bulk_create(
        PersonalLink(study=study, digest=digest_of_key(key), label=label, made_by=actor)
        for key, label in zip(keys, labels, strict=True)
    )
    record(study, reason=f"{len(made):,} personal links made.", actor=actor, n=len(made))
    return list(zip(made, keys, strict=True))


@transaction.atomic
def close_unused_links(*, study: Study, actor: Any = None) -> int:
    """Close every personal link that nobody has used, and count them."""
    locked_study(study.pk)
    n = PersonalLink.objects.filter(pk__in=list(unused_links(study).values_list("pk", flat=True))).update(
        closed_at=timezone.now()
    )
    if n:
        record(study, reason=f"{n:,} unused personal links closed.", actor=actor, n=n)
    return n
