"""By which door somebody comes to a study, and whether it is open to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies.enums import Entrance, Mode
from studies.models import Guest, Interview, Participant, PersonalLink, Study
from studies.selectors.recruiting import HowRecruited
from studies.services.external_ids import has_taken_part
from studies.services.tokens import digest_of_key


@dataclass(frozen=True)
class Door:
    """The door, with the personal link where it is one."""

    entrance: str
    link: PersonalLink | None = None


def is_personal(*, study: Study, entry_key: str) -> bool:
    """Whether the key is that of a personal link of the study."""
    return PersonalLink.objects.filter(study=study, digest=digest_of_key(entry_key)).exists()


def door_of(
    *, study: Study, mode: str, entry_key: str, parameters: Mapping[str, str], recruiting: HowRecruited
) -> Door:
    """The door that somebody stands before. Looking at it spends nothing.

    Raises `study.took_part_before`, `study.closed_link`, `study.by_invitation`, `study.not_a_guest`,
    `study.only_looking`.
    """
    if mode != Mode.LIVE:
        return Door(Entrance.OPEN)
    if recruiting.panel.is_preview(parameters):
        raise ParallaxError(
            "study.only_looking", _("You are looking at this task without having accepted it. Accept it to take part.")
        )
    if recruiting.excluded_studies and has_taken_part(
        studies=recruiting.excluded_studies, panel=recruiting.panel, parameters=parameters
    ):
        raise ParallaxError(
            "study.took_part_before",
            _("You took part in an earlier study of this research. This study is for people who have not."),
        )
    digest = digest_of_key(entry_key)
    link = PersonalLink.objects.filter(study=study, digest=digest).first() if entry_key else None
    if link is not None:
        if link.closed_at is not None and not Participant.objects.filter(study=study, entry_key=digest).exists():
            raise ParallaxError("study.closed_link", _("This link is no longer open. Please ask for a new one."))
        is_interview = Interview.objects.filter(link=link).exists()
        return Door(Entrance.INTERVIEW if is_interview else Entrance.PERSONAL, link)
    if recruiting.entrance == Entrance.PERSONAL:
        raise ParallaxError(
            "study.by_invitation",
            _("People take part in this study by a link of their own. Please open the one that was sent to you."),
        )
    if recruiting.entrance == Entrance.GUEST:
        known = recruiting.panel.who(parameters)
        if known is None or not Guest.objects.filter(study=study, value=known[1]).exists():
            raise ParallaxError(
                "study.not_a_guest",
                _("This study is for invited people. Please open the link as it was sent to you, or ask who sent it."),
            )
        return Door(Entrance.GUEST)
    return Door(Entrance.OPEN)
