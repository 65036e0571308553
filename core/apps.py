"""Configuration of the core app."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class CoreConfig(AppConfig):
    """Loads every app's tasks, so that a web process knows the names it enqueues."""

    name = "core"

    def ready(self) -> None:
        autodiscover_modules("tasks")
