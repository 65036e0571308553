"""Invitations to a study, and the role that accepting one grants."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.dispatch import receiver

from accounts.models import Invitation, User
from accounts.services.invitations import invitation_accepted, invite
from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Role
from studies.models import Condition, Study, StudyInvitation
from studies.team.services.members import add_member


@transaction.atomic
def invite_to_study(
    *, study: Study, role: str, email: str = "", condition: Condition | None = None, actor: Any
) -> tuple[Invitation, str]:
    """Invite a colleague to a study, with or without an account; recorded. Return the invitation and its key.

    Raises `study.unknown_role`, `study.already_member`.
    """
    if role not in Role.values:
        raise ParallaxError("study.unknown_role", f"A role is one of {', '.join(Role.values)}; got {role!r}.")
    address = email.strip().lower()
    if address and study.memberships.filter(researcher__email=address).exists():
        raise ParallaxError("study.already_member", f"{address} is a member. Change the role above instead.")
    invitation, key = invite(actor=actor, email=address, offer=f"{Role(role).label} of the study “{study.title}”")
    StudyInvitation.objects.create(
        study=study,
        invitation=invitation,
        role=role,
        condition=condition if role == Role.INTERVIEWER else None,
    )
    record(study, reason="Colleague invited.", actor=actor, invitation=invitation.pk, role=role)
    return invitation, key


@receiver(invitation_accepted)
def join_study(invitation: Invitation, user: User, **_given: Any) -> None:
    """Add the account that accepted an invitation to its study; raises as `add_member`."""
    granted = StudyInvitation.objects.select_related("study", "condition").filter(invitation=invitation).first()
    if granted is not None:
        add_member(
            study=granted.study,
            email=user.email,
            role=granted.role,
            condition=granted.condition,
            actor=invitation.invited_by,
        )
