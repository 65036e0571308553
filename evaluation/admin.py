"""Recommenders behind HTTP in Django's admin."""

from __future__ import annotations

from django.contrib import admin

from evaluation.models import RemoteRecommender


@admin.register(RemoteRecommender)
class RemoteRecommenderAdmin(admin.ModelAdmin[RemoteRecommender]):
    """Registered recommenders by name."""

    list_display = ["name", "operator", "address", "token_variable", "seconds", "sent"]
    search_fields = ["name", "address"]
