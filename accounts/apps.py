"""Configuration of the accounts app."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """The accounts app."""

    name = "accounts"

    def ready(self) -> None:
        """Receive the signals of signing in and of closed accounts; models are not loaded before."""
        from accounts.services import projects, sign_in  # noqa: F401, PLC0415 -- they import models
