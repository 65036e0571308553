"""REST API endpoints for the people of a study: its members, invitations, and how participants are recruited."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view, inline_serializer
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.models import Invitation
from accounts.selectors import open_invitations
from accounts.services.invitations import deliver, revoke_invitation
from core.api import created
from core.errors import ParallaxError
from core.form_bodies import described, of_facts
from core.networks import site_of
from core.problem_details import unknown
from studies.api.membership import StudyView
from studies.console.forms.interviews import PlacesForm
from studies.console.forms.recruiting import EntryForm, GuestsForm, LinksForm, SignedLinksForm, SubmissionsForm
from studies.console.forms.study_lifecycle import InviteForm, MemberForm
from studies.design.selectors.texts import languages_of
from studies.enums import Mode, Role
from studies.models import StudyMembership
from studies.monitoring.selectors.approvals import Approval, approvals_of
from studies.recruitment.panels.exits import CODES, OUTCOMES, Exit
from studies.recruitment.selectors.recruitment import link_counts, recruiting_of
from studies.recruitment.services import recruitment
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.submissions import ImportSummary, columns_of, load_submissions
from studies.team.selectors.studies import members_of
from studies.team.services.members import add_member, invite_to_study, remove_member

APPROVAL, SUMMARY = of_facts(Approval), of_facts(ImportSummary)
ENTRY = described(
    EntryForm, "Entry", link=serializers.CharField(read_only=True, help_text="To publish, with the panel's parameters.")
)
NEW_MEMBER = described(MemberForm, "NewMember")
MEMBER_ROLE = described(MemberForm, "MemberRole", without=["email"])
INVITE = described(InviteForm, "Invite", email=serializers.EmailField(required=False, allow_blank=True))
NEW_LINKS = described(LinksForm, "NewLinks", without=["file"])
TO_SIGN = described(SignedLinksForm, "ToSign", without=["file"])
GUESTS = described(GuestsForm, "Guests", without=["file"])
PLACES = described(PlacesForm, "Places")
SUBMISSIONS = {"multipart/form-data": described(SubmissionsForm, "Submissions")}
LINKS = inline_serializer("PersonalLink", {"label": serializers.CharField(), "link": serializers.URLField()}, many=True)
COUNTS = inline_serializer(
    "LinkCounts", {state: serializers.IntegerField() for state in ("created", "used", "unused", "closed")}
)


class MemberSerializer(serializers.ModelSerializer[StudyMembership]):
    """A member of a study; `condition` is that of an interviewer who is nested in one."""

    email = serializers.EmailField(source="researcher.email")
    name = serializers.CharField(source="researcher.name")
    role = serializers.ChoiceField(choices=Role.choices)
    condition = serializers.CharField(source="condition.label", allow_null=True)

    class Meta:
        model = StudyMembership
        fields = ["id", "email", "name", "role", "condition"]
        read_only_fields = fields


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An open invitation to a study."""

    email = serializers.CharField(help_text="Empty: anyone who has the link may accept it.")
    role = serializers.ChoiceField(choices=Role.choices, source="study_invitation.role")
    condition = serializers.CharField(source="study_invitation.condition.label", allow_null=True)
    link = serializers.URLField(default=None, allow_null=True, help_text="Null but in the response that creates it.")

    class Meta:
        model = Invitation
        fields = ["id", "email", "role", "condition", "created_at", "expires_at", "link"]
        read_only_fields = fields


class ExitSerializer(serializers.Serializer[Any]):
    """What participants see at the end, for one outcome; `text` is Markdown by language."""

    code = serializers.ChoiceField(choices=CODES)
    static_code = serializers.CharField(allow_blank=True, default="", help_text="The code, where it is static.")
    url = serializers.CharField(
        allow_blank=True, default="", help_text="`{code}`, `{id}` and the link's parameters are filled in."
    )
    text = serializers.DictField(child=serializers.CharField(allow_blank=True), default=dict)


class RowsViewSet(StudyView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Any]):
    """Rows of a study that its owners alone see and change."""

    lookup_field = "pk"
    lookup_value_regex = "[0-9]+"

    def added(self, row: Any, **shown_once: str) -> Response:
        """The response to a request that created a row, with what no other response shows."""
        kwargs = {"slug": self.kwargs["slug"], "pk": row.pk}
        url = reverse(f"api:{self.basename}-detail", kwargs=kwargs, request=self.request)
        return created({**self.get_serializer(row).data, **shown_once}, url)


@extend_schema_view(
    list=extend_schema(operation_id="study_members"),
    retrieve=extend_schema(operation_id="study_member", summary="One member"),
)
class MemberViewSet(RowsViewSet):
    """The members of a study."""

    serializer_class = MemberSerializer
    queryset = StudyMembership.objects.none()

    def get_queryset(self) -> QuerySet[StudyMembership]:
        """The members of the study."""
        return members_of(self.owned)

    @extend_schema(operation_id="study_member_add", request=NEW_MEMBER, responses={201: MemberSerializer})
    def create(self, request: Request, slug: str) -> Response:
        """Add a researcher who has an account. Members are refused (409): change their role instead."""
        study = self.owned
        chosen = self.form(lambda data, _files: MemberForm(study, data)).cleaned_data
        if members_of(study).filter(researcher__email=chosen["email"].lower()).exists():
            raise ParallaxError("study.already_member", f"{chosen['email']} is a member.")
        return self.added(add_member(study=study, actor=request.user, **chosen))

    @extend_schema(operation_id="study_member_change", request=MEMBER_ROLE, responses=MemberSerializer)
    def partial_update(self, request: Request, slug: str, pk: str) -> Response:
        """Change the role of a member. A study keeps an owner: the role of the last one stays (409)."""
        member = self.get_object()
        chosen = self.form(lambda data, _files: _role_form(member, data)).cleaned_data
        add_member(study=self.owned, email=member.researcher.email, actor=request.user, **chosen)
        return self.retrieve(request, slug, pk)

    @extend_schema(operation_id="study_member_remove", responses={204: None})
    def destroy(self, request: Request, slug: str, pk: str) -> Response:
        """Remove a member. Their open invitations are revoked, and the last owner stays (409)."""
        remove_member(study=self.owned, membership=self.get_object(), actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _role_form(member: StudyMembership, data: Any) -> MemberForm:
    form = MemberForm(member.study, data)
    del form.fields["email"]
    form.initial = {"role": member.role, "condition": member.condition and member.condition.label}
    return form


@extend_schema_view(
    list=extend_schema(operation_id="study_invitations"),
    retrieve=extend_schema(operation_id="study_invitation", summary="One invitation"),
)
class InvitationViewSet(RowsViewSet):
    """The open invitations to a study."""

    serializer_class = InvitationSerializer
    queryset = Invitation.objects.none()

    def get_queryset(self) -> QuerySet[Invitation]:
        """The open invitations to the study."""
        return open_invitations().filter(study_invitation__study=self.owned)

    @extend_schema(operation_id="study_invite", request=INVITE, responses={201: InvitationSerializer})
    def create(self, request: Request, slug: str) -> Response:
        """Invite a colleague. Pass the link on: only this response has it, and no e-mail is sent."""
        study = self.owned
        chosen = self.form(lambda data, _files: InviteForm(study, data)).cleaned_data
        invitation, key = invite_to_study(study=study, actor=request.user, **chosen)
        return self.added(invitation, link=deliver(invitation=invitation, key=key, site=site_of(request)).link)

    @extend_schema(operation_id="study_invitation_revoke", responses={204: None})
    def destroy(self, request: Request, slug: str, pk: str) -> Response:
        """Revoke an invitation. Its link no longer works."""
        revoke_invitation(invitation=self.get_object(), actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RecruitingViewSet(StudyView, viewsets.ViewSet):
    """How participants come to a study and leave it."""

    data_actions: ClassVar = {"create_links", "sign", "guests", "set_guests", "submissions", "load_submissions"}

    @extend_schema(operation_id="study_panel", responses=ENTRY)
    @action(detail=False)
    def panel(self, request: Request, slug: str) -> Response:
        """Panel, entrance, entry limits, and the link to publish."""
        study = self.owned
        form = EntryForm(study, request.user)
        shown = {
            name: form.initial[name] or None if isinstance(field, forms.IntegerField) else form.initial[name]
            for name, field in form.fields.items()
        }
        link = request.build_absolute_uri(entry_link(study=study, mode=Mode.LIVE))
        return Response({**shown, "link": link + recruiting_of(study).panel.query})

    @extend_schema(operation_id="study_panel_change", request=ENTRY, responses=ENTRY)
    @panel.mapping.patch
    def change_panel(self, request: Request, slug: str) -> Response:
        """Change panel, entrance and entry limits. Fields that are left out stay as they are."""
        study = self.owned
        self.form(lambda data, _files: EntryForm(study, request.user, data)).save(study, request.user)
        return self.get(request, slug)  # type: ignore[no-any-return]

    @extend_schema(operation_id="study_exit", responses=ExitSerializer)
    @action(detail=False, url_path=f"exits/(?P<outcome>{'|'.join(OUTCOMES)})")
    def exits(self, request: Request, slug: str, outcome: str) -> Response:
        """The exit of participants with an outcome."""
        return Response(asdict(recruiting_of(self.owned).exits[outcome]))

    @extend_schema(operation_id="study_exit_set", request=ExitSerializer, responses=ExitSerializer)
    @exits.mapping.put
    def set_exit(self, request: Request, slug: str, outcome: str) -> Response:
        """Set the exit of participants with an outcome."""
        study, body = self.owned, self.body(ExitSerializer)
        if problems := unknown(body["text"], languages_of(study), "language"):
            raise ValidationError({"text": problems})
        recruitment.set_exits(study=study, exits={outcome: Exit(**body)}, actor=request.user)
        return Response(asdict(recruiting_of(study).exits[outcome]))

    @extend_schema(operation_id="study_links", responses=COUNTS)
    @action(detail=False)
    def links(self, request: Request, slug: str) -> Response:
        """The number of personal links by state."""
        return Response(link_counts(self.owned))

    @extend_schema(operation_id="study_links_create", request=NEW_LINKS, responses={201: LINKS})
    @links.mapping.post
    def create_links(self, request: Request, slug: str) -> Response:
        """Create personal links. Each admits one participant. Store them: only this response has them."""
        study, form = self.owned, self.form(LinksForm)
        n = form.cleaned_data["n"] or 0
        rows = recruitment.create_links(study=study, n=n, text=form.entries, actor=request.user)
        links = [
            {"label": row.label, "link": reverse("participant:personal", args=[slug, key], request=request)}
            for row, key in rows
        ]
        return Response(links, status=status.HTTP_201_CREATED, headers={"Location": request.build_absolute_uri()})

    @extend_schema(operation_id="study_links_close", responses={204: None})
    @links.mapping.delete
    def close_links(self, request: Request, slug: str) -> Response:
        """Close the unused personal links."""
        recruitment.close_unused_links(study=self.owned, actor=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="study_links_sign", request=TO_SIGN, responses={201: LINKS})
    @action(detail=False, methods=["post"], url_path="links/signed")
    def sign(self, request: Request, slug: str) -> Response:
        """Create signed links of ids. The label of a link is its id, which enters by this link alone."""
        study, form = self.owned, self.form(SignedLinksForm)
        facts = {"text": form.entries, "replace_key": form.cleaned_data["replace_key"]}
        signed = recruitment.create_signed_links(study=study, actor=request.user, **facts)
        link = request.build_absolute_uri(entry_link(study=study, mode=Mode.LIVE))
        links = [{"label": value, "link": f"{link}?{query}"} for value, query in signed]
        return Response(links, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="study_guests", responses=GUESTS)
    @action(detail=False)
    def guests(self, request: Request, slug: str) -> Response:
        """The guest list. `text` has one id per line, as CSV."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.owned.guests.values_list("value"))
        return Response({"text": text.getvalue()})

    @extend_schema(operation_id="study_guests_set", request=GUESTS, responses=GUESTS)
    @guests.mapping.put
    def set_guests(self, request: Request, slug: str) -> Response:
        """Replace the guest list. Participants who have entered are not affected."""
        self.form(GuestsForm).save(self.owned, request.user)
        return self.get(request, slug)  # type: ignore[no-any-return]

    @extend_schema(operation_id="study_submissions", responses=APPROVAL(many=True))
    @action(detail=False, parser_classes=[MultiPartParser])
    def submissions(self, request: Request, slug: str) -> Response:
        """The submissions on the panel. Each has the recommended approval; completers who are in no list are last."""
        return Response([asdict(approval) for approval in approvals_of(self.owned)])

    @extend_schema(operation_id="study_submissions_load", request=SUBMISSIONS, responses=SUMMARY)
    @submissions.mapping.post
    def load_submissions(self, request: Request, slug: str) -> Response:
        """Load the panel's list of submissions. A list with faults, which `extra` names, is not loaded at all (409)."""
        study, form = self.owned, self.form(SubmissionsForm)
        columns = columns_of(recruiting_of(study).panel, **form.column_names)
        data = form.cleaned_data["file"]
        return Response(asdict(load_submissions(study=study, data=data, columns=columns, actor=request.user)))

    @extend_schema(operation_id="study_places", responses=PLACES)
    @action(detail=False)
    def places(self, request: Request, slug: str) -> Response:
        """The places of interviews. There is one per line."""
        return Response(PlacesForm(self.owned).initial)

    @extend_schema(operation_id="study_places_set", request=PLACES, responses=PLACES)
    @places.mapping.put
    def set_places(self, request: Request, slug: str) -> Response:
        """Set the places of interviews. The code of a place where sessions were held stays (409)."""
        study = self.owned
        places = self.form(lambda data, _files: PlacesForm(study, data)).places()
        recruitment.set_places(study=study, places=places, actor=request.user)
        return Response(PlacesForm(study).initial)
