"""The settings of a study that are no part of its design: members, languages, contact, retention, and its end."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.models import Invitation
from accounts.selectors import open_invitations
from accounts.services.invitations import BY_LINK, deliver, revoke_invitation
from core.errors import ParallaxError
from core.networks import site_of
from core.outcomes import perform, refusals_in
from studies.console.forms.data import RetentionForm
from studies.console.forms.study_lifecycle import InviteForm, MemberForm
from studies.console.views.workspace import SETTINGS, study_page
from studies.design.selectors.texts import contact_of, language_name
from studies.enums import READERS, StudyStatus
from studies.models import StudyMembership
from studies.recruitment.selectors.recruitment import is_nested
from studies.team.permissions import NO_ROLE, OWNERS, POST, Membership, for_members, ownerless_study_for
from studies.team.selectors import studies
from studies.team.services import members
from studies.team.services.members import invite_to_study


@for_members(READERS)
def study_settings(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Members, languages and contact, retention, copies, and the activity log."""
    study = membership.study
    context = {
        "members": studies.members_of(study) if membership.is_owner else (),
        "languages": [(code, language_name(code), contact_of(study, code)) for code in study.design.languages],
        "retention_form": RetentionForm(study),
        "is_draft": study.status == StudyStatus.DRAFT,
        "log": studies.log_of(study),
    }
    return study_page(request, membership, "console/studies/settings.html", context, tab=SETTINGS)


@for_members(OWNERS, POST)
def member_add(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Add a researcher, or change their role."""
    form = MemberForm(membership.study, request.POST)
    if form.is_valid():
        perform(request, members.add_member, "The member is added.", study=membership.study, **form.cleaned_data)
    else:
        messages.error(request, "Enter the address of an account and a role.")
    return redirect("studies:members", slug=membership.study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
def study_take_over(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the administrator the owner of a study that has none, once they confirm it."""
    study = ownerless_study_for(request.user, slug)
    if request.method == "POST":
        try:
            members.take_over(study=study, actor=request.user)
        except ParallaxError as refusal:
            messages.error(request, str(refusal))
            return redirect("studies:list")
        messages.success(request, "You are the owner of this study now.")
        return redirect("studies:detail", slug=study.slug)
    return render(request, "console/studies/take_over.html", {"study": study, "members": studies.members_of(study)})


study_take_over.roles = NO_ROLE  # type: ignore[attr-defined]


def _member_page(request: HttpRequest, membership: Membership, **shown: Any) -> HttpResponse:
    study = membership.study
    context = {
        "is_nested": is_nested(study),
        "members": studies.members_of(study),
        "form": MemberForm(study),
        "invite_form": InviteForm(study),
        "has_mail": bool(settings.EMAIL_HOST),
        "invitations": [
            (each, reverse("studies:invitation-revoke", args=[study.slug, each.pk]))
            for each in open_invitations().filter(study_invitation__study=study)
        ],
        **shown,
    }
    return study_page(request, membership, "console/studies/members.html", context, tab=SETTINGS)


@for_members(OWNERS)
def member_list(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The study's members, their roles, and open invitations."""
    return _member_page(request, membership)


@never_cache
@for_members(OWNERS, POST)
def member_invite(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Invite a colleague; only this response contains the link of the new invitation."""
    form = InviteForm(membership.study, request.POST)
    if form.is_valid():
        with refusals_in(form, "email"):
            invitation, key = invite_to_study(study=membership.study, actor=request.user, **form.cleaned_data)
            delivery = deliver(
                invitation=invitation, key=key, site=site_of(request), by=request.POST.get("by", BY_LINK)
            )
            return _member_page(request, membership, delivery=delivery)
    return _member_page(request, membership, invite_form=form)


@for_members(OWNERS, POST)
def member_invitation_revoke(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    """Revoke an invitation to the study."""
    invitation = get_object_or_404(Invitation, study_invitation__study=membership.study, pk=pk)
    revoke_invitation(invitation=invitation, actor=request.user)
    messages.success(request, "The invitation is revoked.")
    return redirect("studies:members", slug=membership.study.slug)


@for_members(OWNERS, POST)
def member_remove(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    """Remove a researcher from the study."""
    removed = get_object_or_404(StudyMembership, study=membership.study, pk=pk)
    is_self = removed.researcher_id == request.user.pk
    perform(request, members.remove_member, "The member is removed.", study=membership.study, membership=removed)
    if is_self and not StudyMembership.objects.filter(study=membership.study, researcher_id=request.user.pk).exists():
        return redirect("studies:list")
    return redirect("studies:members", slug=membership.study.slug)
