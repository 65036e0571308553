"""Configuration of the accounts app."""

from __future__ import annotations

from django.apps import AppConfig

# What a token can be limited to: by kind, the function that returns an account's rows of it. Other apps add theirs.
TOKEN_LIMITS = {"project": "accounts.selectors.projects_of"}


class AccountsConfig(AppConfig):
    """The accounts app."""

    name = "accounts"

    def ready(self) -> None:
        """Receive the signals of signing in and of closed accounts; models are not loaded before."""
        from accounts.services import projects, sign_in  # noqa: F401, PLC0415 -- they import models
