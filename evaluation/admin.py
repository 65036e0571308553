"""Read-only admin of runs, parts and models."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from evaluation.models import EvaluationRun, RunPart, TrainedModel


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """An admin without write access."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(EvaluationRun)
class RunAdmin(ReadOnlyAdmin):
    """Runs by status."""

    list_display = ("__str__", "version", "status", "owner", "created_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("version__dataset", "owner")


@admin.register(RunPart)
class PartAdmin(ReadOnlyAdmin):
    """Parts by kind and status, with their leases."""

    list_display = ("__str__", "kind", "status", "lease", "leased_until", "attempts", "seconds")
    list_filter = ("kind", "status")
    list_select_related = ("run",)


@admin.register(TrainedModel)
class ModelAdmin(ReadOnlyAdmin):
    """Trained models with their hashes."""

    list_display = ("__str__", "version", "recipe", "threads", "fit_seconds", "created_at")
    list_select_related = ("version__dataset",)
