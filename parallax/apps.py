"""Configuration of the project app."""

from __future__ import annotations

from django.apps import AppConfig

from parallax import checks


class ParallaxConfig(AppConfig):
    """Registers the system checks."""

    name = "parallax"

    def ready(self) -> None:
        checks.register_all()
