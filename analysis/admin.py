"""Reports in the administration: to look at, never to change."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from analysis.models import Report


@admin.register(Report)
class ReportAdmin(admin.ModelAdmin[Report]):
    """A report is data that was computed; changing it by hand would make it a lie."""

    list_display = ["__str__", "mode", "run", "inputs_hash", "created_at"]
    list_filter = ["mode"]
    list_select_related = ["study", "run"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return False
