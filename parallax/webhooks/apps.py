"""App configuration."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Webhooks of researchers."""

    name = "parallax.webhooks"

    def ready(self) -> None:
        """Listen to the log of status changes and to notices, from which events follow."""
        import_module("parallax.webhooks.events")
