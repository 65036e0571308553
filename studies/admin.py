"""The administrator's view of studies: who is on them, and nothing of what participants said."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from studies.models import Study, StudyMembership

READ_ONLY = ("slug", "title", "status", "template", "seed", "design_hash", "launched_at", "closed_at")


class MembershipInline(admin.TabularInline[StudyMembership, Study]):
    """So that a study whose owner left can be given another."""

    model = StudyMembership
    extra = 0


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
