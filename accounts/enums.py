"""Scopes of access tokens, and roles in a project."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Scope(TextChoices):
    """What a token allows; a token has one or more of them. Withdrawing by `write` needs `data` too."""

    READ = "read", _("Read")
    DATA = "data", _("Read participants’ data")
    WRITE = "write", _("Write")
    REPORT = "report", _("Build reports")
    WITHDRAW = "withdraw", _("Withdraw participants")
    UPLOAD = "upload", _("Upload models and scores")


NARROW = frozenset({Scope.REPORT, Scope.WITHDRAW, Scope.UPLOAD})  # parts of `write`, each with all reading
# What a token can be limited to: by kind, the function that returns an account's rows of it. Other apps add theirs.
TOKEN_LIMITS = {"project": "accounts.selectors.projects_of"}
READING = f"{Scope.READ} {Scope.DATA}"


class ProjectRole(TextChoices):
    """What a researcher may do in a project."""

    OWNER = "owner", _("Owner")
    MEMBER = "member", _("Member")
    VIEWER = "viewer", _("Viewer")
