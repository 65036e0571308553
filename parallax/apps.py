"""Configuration of the project app."""

from __future__ import annotations

from django.apps import AppConfig

from parallax import checks  # noqa: F401 -- registers them


class ParallaxConfig(AppConfig):
    """The project app, with its system checks."""

    name = "parallax"
