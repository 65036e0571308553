"""Scopes of access tokens."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Scope(TextChoices):
    """The actions that a token allows; every scope includes reading."""

    READ = "read", _("Read")
    REPORT = "report", _("Read, and build reports")
    WITHDRAW = "withdraw", _("Read, and withdraw participants")
