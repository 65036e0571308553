"""What Django needs to know of this app."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    """The analysis app."""

    name = "analysis"

    def ready(self) -> None:
        """Listen for erasures, so that no report outlives the answers of a person in it."""
        import_module("analysis.services.erasure")
