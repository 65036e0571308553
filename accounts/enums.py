"""What a token may do."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Scope(TextChoices):
    """Reading is in every scope."""

    READ = "read", _("Read")
    REPORT = "report", _("Read, and build reports")
    WITHDRAW = "withdraw", _("Read, and withdraw participants")
