"""The catalogue in Django's admin, read-only because versions never change."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from catalog.models import Dataset, DatasetVersion


@admin.register(Dataset)
class DatasetAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Datasets by name."""

    list_display = ["name", "title", "owner", "created_at"]
    search_fields = ["name", "title"]
    raw_id_fields = ["owner"]
    readonly_fields = ["name", "project"]  # moved on its page, with its runs

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(DatasetVersion)
class DatasetVersionAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Versions, for reading."""

    list_display = ["dataset", "number", "n_users", "n_items", "n_ratings", "is_synthetic", "retired_at", "created_at"]
    list_select_related = ["dataset"]
    list_filter = ["is_synthetic", "source_format"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
