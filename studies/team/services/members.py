"""Members of a study and their roles: added, invited, removed, and successors of a closed account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.dispatch import receiver

from accounts.models import Invitation, User
from accounts.selectors import open_invitations
from accounts.services.accounts import account_closing
from accounts.services.invitations import invitation_accepted, invite, revoke_invitation
from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Role
from studies.models import Condition, Study, StudyInvitation, StudyMembership
from studies.team.services.notices import notify_members


def _require_an_owner(study: Study) -> None:
    if not study.memberships.filter(role=Role.OWNER, researcher__is_active=True).exists():
        raise ParallaxError("study.last_owner", "A study needs an owner. Make another member an owner first.")


@transaction.atomic
def take_over(*, study: Study, actor: Any) -> None:
    """Make an administrator the owner of a study that has none; recorded.

    Raises `study.not_administrator`, `study.has_owner`.
    """
    if not actor.is_superuser:
        raise ParallaxError("study.not_administrator", "Only an administrator can take over a study without an owner.")
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if study.memberships.filter(role=Role.OWNER, researcher__is_active=True).exists():
        raise ParallaxError("study.has_owner", "This study has an owner. Ask the owner to add you as a member.")
    reason = "Taken over by an administrator: the study had no owner."
    text = f"{actor.email}, an administrator, became the owner, because the study had none."
    _make_owner(study, actor, actor, reason, text)


def _make_owner(study: Study, researcher: Any, actor: Any, reason: str, text: str) -> None:
    StudyMembership.objects.update_or_create(
        study=study, researcher=researcher, defaults={"role": Role.OWNER, "condition": None}
    )
    record(study, reason=reason, actor=actor, researcher=researcher.pk, role=Role.OWNER)
    notify_members(study=study, actor=actor, text=text)


@transaction.atomic
def change_members(
    *, study: Study, added: Sequence[StudyMembership], removed: Sequence[StudyMembership], actor: Any
) -> None:
    """Add and remove members as an administrator without a membership; recorded, and all members are notified.

    Raises as `add_member` and `remove_member`.
    """
    changes = []
    for new in added:
        email, role = new.researcher.email, Role(new.role)
        add_member(study=study, email=email, role=role, condition=new.condition, actor=actor)
        changes.append(f"{email} was added ({role.label.lower()})")
    for old in removed:
        changes.append(f"{old.researcher.email} was removed")
        remove_member(study=study, membership=old, actor=actor)
    if changes:
        text = f"{actor.email}, an administrator, changed the members: {'; '.join(changes)}."
        notify_members(study=study, actor=actor, text=text)


@transaction.atomic
def add_member(
    *, study: Study, email: str, role: str, condition: Condition | None = None, actor: Any = None
) -> StudyMembership:
    """Add a researcher to a study, or change their role.

    `condition` is the condition of a nested interviewer. Raises
    `study.unknown_researcher`, `study.unknown_role`, `study.last_owner`.
    """
    if role not in Role.values:
        raise ParallaxError("study.unknown_role", f"A role is one of {', '.join(Role.values)}; got {role!r}.")
    researcher = get_user_model().objects.filter(email=email.strip().lower(), is_active=True).first()
    if researcher is None:
        raise ParallaxError("study.unknown_researcher", f"There is no account with the address {email}.")
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    membership, _created = StudyMembership.objects.update_or_create(
        study=study,
        researcher=researcher,
        defaults={"role": role, "condition": condition if role == Role.INTERVIEWER else None},
    )
    _require_an_owner(study)
    record(study, reason="Member added or changed.", actor=actor, researcher=researcher.pk, role=role)
    return membership


@transaction.atomic
def remove_member(*, study: Study, membership: StudyMembership, actor: Any = None) -> None:
    """Remove a researcher from a study, and revoke their open invitations to it.

    Raises `study.last_owner` for the only owner.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    researcher_id = membership.researcher_id
    membership.delete()
    _require_an_owner(study)
    for invitation in open_invitations().filter(study_invitation__study=study, invited_by=researcher_id):
        revoke_invitation(invitation=invitation, actor=actor)
    record(study, reason="Member removed.", actor=actor, researcher=researcher_id)


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
        raise ParallaxError("study.already_member", f"{address} is a member. Change their role instead.")
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
        role, condition = granted.role, granted.condition
        add_member(study=granted.study, email=user.email, role=role, condition=condition, actor=invitation.invited_by)


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
    reason = "Handed over by an administrator: the account of the only owner was closed."
    text = f"{successor} became an owner, because an administrator closed the account of the only owner, {user.email}."
    for study in alone:
        _make_owner(study, successor, actor, reason, text)
