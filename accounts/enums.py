"""Scopes of access tokens, and roles in a project."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Scope(TextChoices):
    """The actions that a token allows; every scope includes reading."""

    READ = "read", _("Read")
    REPORT = "report", _("Read, and build reports")
    WITHDRAW = "withdraw", _("Read, and withdraw participants")
    UPLOAD = "upload", _("Read, and upload models and scores")


class ProjectRole(TextChoices):
    """What a researcher may do in a project."""

    OWNER = "owner", _("Owner")
    MEMBER = "member", _("Member")
    VIEWER = "viewer", _("Viewer")
