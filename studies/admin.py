"""The administrator's view of studies: who is on them, and nothing of what participants said."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest

from core.errors import ParallaxError
from studies.enums import Role
from studies.models import Study, StudyMembership
from studies.team.services.members import change_members

READ_ONLY = ("slug", "title", "status", "template", "seed", "design_hash", "launched_at", "closed_at")


class MembershipFormSet(BaseInlineFormSet[StudyMembership, Study, Any]):
    """Members that are added and removed."""

    def clean(self) -> None:
        """A study keeps an owner, and members have active accounts."""
        super().clean()
        stay = [
            form.instance
            for form in self.forms
            if form.instance.researcher_id and not getattr(form, "cleaned_data", {}).get("DELETE")
        ]
        if not any(member.role == Role.OWNER and member.researcher.is_active for member in stay):
            raise ValidationError("A study needs an owner with an active account. Add another owner first.")


class MembershipInline(admin.TabularInline[StudyMembership, Study]):
    """So that a study whose owner left can be given another; rows are added or removed, and not changed."""

    model = StudyMembership
    formset = MembershipFormSet
    fields = ("researcher", "role", "condition")
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Study)
class StudyAdmin(admin.ModelAdmin[Study]):
    """Read-only but for its members: a study is changed by its services, which log what they do."""

    list_display = ["slug", "title", "status", "created_at"]
    list_filter = ["status"]
    search_fields = ["slug", "title"]
    fields = READ_ONLY
    readonly_fields = READ_ONLY
    inlines = [MembershipInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Change members by the service, which leaves a line in the activity log and a notice for the members."""
        formset.save(commit=False)
        try:
            with transaction.atomic():
                change_members(
                    study=form.instance,
                    added=formset.new_objects,
                    removed=formset.deleted_objects,
                    actor=request.user,
                )
        except ParallaxError as refusal:
            messages.error(request, str(refusal))
