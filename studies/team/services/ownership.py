"""Hand the studies of a closed account over, so that none is left without an owner."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from accounts.models import User
from accounts.services.accounts import account_closing
from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Role
from studies.models import Study, StudyMembership
from studies.team.services.notices import notify_members


@receiver(account_closing)
def hand_over_studies(user: User, successor: User | None, actor: Any, **_given: Any) -> None:
    """Make the successor an owner of the studies that only the closing account owns; recorded for each study.

    Raises `study.last_owner`, which names the studies, if there are any and no successor was named.
    """
    owned = Study.objects.filter(memberships__researcher=user, memberships__role=Role.OWNER).order_by("pk")
    locked = list(Study.objects.select_for_update(no_key=True).filter(pk__in=owned.values("pk")).order_by("pk"))
    owners = StudyMembership.objects.filter(study__in=locked, role=Role.OWNER, researcher__is_active=True)
    shared = set(owners.exclude(researcher=user).values_list("study_id", flat=True))
    alone = [study for study in locked if study.pk not in shared]
    if alone and successor is None:
        titles = ", ".join(f"“{study.title}”" for study in alone)
        raise ParallaxError(
            "study.last_owner",
            f"{user.email} is the only active owner of {titles}. Choose the account that becomes their owner.",
            {"studies": [study.slug for study in alone]},
        )
    for study in alone:
        StudyMembership.objects.update_or_create(
            study=study, researcher=successor, defaults={"role": Role.OWNER, "condition": None}
        )
        record(
            study,
            reason="Handed over by an administrator: the account of the only owner was closed.",
            actor=actor,
            researcher=successor.pk if successor else None,
            role=Role.OWNER,
        )
        text = (
            f"{successor} became an owner, because an administrator closed the account of the only owner, {user.email}."
        )
        notify_members(study=study, actor=actor, text=text)
