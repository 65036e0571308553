"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Work that workers do, whatever its kind."""

    name = "jobs"
