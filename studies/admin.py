"""The administrator's view of studies: who is on them, and nothing of what participants said."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from accounts.admin import MembersAdmin, MembershipInline
from studies.models import Study, StudyMembership
from studies.team.services.members import change_members

READ_ONLY = ("slug", "title", "status", "template", "seed", "design_hash", "launched_at", "closed_at")


class StudyMembershipInline(MembershipInline):
    """Members of a study."""

    model = StudyMembership
    fields = ("researcher", "role", "condition")


@admin.register(Study)
class StudyAdmin(MembersAdmin):
    """Studies by status."""

    list_display = ["slug", "title", "status", "created_at"]
    list_filter = ["status"]
    search_fields = ["slug", "title"]
    fields = READ_ONLY
    readonly_fields = READ_ONLY
    inlines = [StudyMembershipInline]

    def change_members(self, subject: Study, added: list[Any], removed: list[Any], actor: Any) -> None:
        change_members(study=subject, added=added, removed=removed, actor=actor)
