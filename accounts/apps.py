"""Configuration of the accounts app."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """The accounts app."""

    name = "accounts"

    def ready(self) -> None:
        """Receive the signals of signing in; models are not loaded before."""
        from accounts.services import library_adapters, sign_in  # noqa: PLC0415 -- they import models

        sign_in.connect()
        library_adapters.connect()
