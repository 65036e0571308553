"""What Django needs to know of this app."""

from __future__ import annotations

from django.apps import AppConfig


class StudiesConfig(AppConfig):
    """The studies app."""

    name = "studies"
