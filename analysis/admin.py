"""Reports in the administration: to look at, never to change."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from analysis.models import Report


@admin.register(Report)
class ReportAdmin(admin.ModelAdmin[Report]):
    """A report is data that was computed; changing it by hand would make it a lie.

    An administrator sees that it exists. What it says is for those who are on its study alone.
    """

    list_display = ["__str__", "mode", "run", "inputs_hash", "created_at"]
    list_filter = ["mode"]
    fields = ["study", "number", "mode", "run", "inputs_hash", "made_by"]
    list_select_related = ["study", "run"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return False
