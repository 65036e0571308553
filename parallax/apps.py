"""Configuration of the project app."""

from __future__ import annotations

from django.apps import AppConfig

from parallax import checks  # noqa: F401 -- registers them


class ParallaxConfig(AppConfig):
    """The project app, with its system checks."""

    name = "parallax"

    def ready(self) -> None:
        """Receive the signals of what the security log holds; models are not loaded before."""
        from parallax import security_events  # noqa: F401, PLC0415 -- it imports models
