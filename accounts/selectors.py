"""Accounts, invitations, access tokens, roles in projects, and whether a request is signed in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import Case, Q, QuerySet, When
from django.http.cookie import parse_cookie
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.enums import TOKEN_LIMITS, ProjectRole
from accounts.models import WRITERS, Invitation, Project, ProjectMembership, Token, User
from core.models import LogEntry
from core.provenance import digest_of_token


def token_of(text: str) -> Token | None:
    """The valid token with this text, with its owner; None if there is none or the account is inactive."""
    token = Token.objects.select_related("owner").filter(digest=digest_of_token(text), owner__is_active=True).first()
    return token if token is not None and token.is_valid else None


def tokens_of(researcher: Any) -> QuerySet[Token]:
    """A researcher's tokens that are not revoked, newest first."""
    return Token.objects.filter(owner=researcher, revoked_at=None).prefetch_related("only").order_by("-pk")


def projects_of(researcher: Any) -> QuerySet[Project]:
    """A researcher's projects, by name."""
    return Project.objects.of(researcher)


def limits_of(researcher: Any) -> dict[str, QuerySet[Any]]:
    """What a researcher can limit a token to, by kind."""
    return {kind: import_string(path)(researcher) for kind, path in TOKEN_LIMITS.items()}


def accounts_by_name() -> QuerySet[User]:
    """All accounts, active ones first, then by address."""
    return User.objects.order_by("-is_active", "email")


def invitation_of(key: str) -> Invitation | None:
    """The invitation with this key, whether it can still be accepted or not."""
    return Invitation.objects.select_related("invited_by").filter(digest=digest_of_token(key)).first()


def open_invitations() -> QuerySet[Invitation]:
    """The invitations that can still be accepted, newest first."""
    is_open = Q(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return Invitation.objects.filter(is_open).select_related("invited_by").order_by("-pk")


def default_owner() -> User | None:
    """The default owner of what a command creates: the newest administrator, else the newest account."""
    return User.objects.filter(is_active=True).order_by("-is_superuser", "-pk").first()


def active_account(email: str) -> User | None:
    """The active account of an e-mail address."""
    return User.objects.filter(email=email.strip().lower(), is_active=True).first()


def has_several_accounts() -> bool:
    """Whether a command has more than one account to choose an owner from."""
    return User.objects.filter(is_active=True).count() > 1


def is_signed_in(cookie: str, authorization: str) -> bool:
    """Whether these two headers belong to an account, by its session or an access token."""
    keyword, _, text = authorization.partition(" ")
    if keyword.lower() == "bearer" and text.isascii() and token_of(text.strip()) is not None:
        return True
    session_key = parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME, "")
    return bool(session_key) and SESSION_KEY in SessionStore(session_key)


def membership_in(researcher: Any, project_id: int) -> ProjectMembership | None:
    """A researcher's membership in a project, with the project; None for strangers, administrators included."""
    memberships = ProjectMembership.objects.filter(researcher=researcher, project=project_id)
    return memberships.select_related("project").first()


def writes_in(researcher: Any, project_id: int) -> bool:
    """Whether a researcher may change what belongs to a project, as an owner or a member of it."""
    return Project.objects.of(researcher, WRITERS).filter(pk=project_id).exists()


def memberships_of(researcher: Any) -> QuerySet[ProjectMembership]:
    """A researcher's memberships in projects, by the project's name, each with the project."""
    memberships = ProjectMembership.objects.filter(researcher=researcher).select_related("project")
    return memberships.order_by("project__name", "project")


def log_of_project(project: Project, n: int = 20) -> QuerySet[LogEntry]:
    """The newest entries of a project's log."""
    entries = LogEntry.objects.filter(kind="accounts.project", object_id=project.pk)
    return entries.select_related("actor").order_by("-at", "-id")[:n]


def members_of_project(project: Project) -> QuerySet[ProjectMembership]:
    """The members of a project, owners first, then by address."""
    order = Case(*(When(role=role, then=rank) for rank, role in enumerate(ProjectRole)), default=0)
    return project.memberships.select_related("researcher").order_by(order, "researcher__email")


def projects_named(name: str) -> QuerySet[Project]:
    """The projects of this name, or of this number; names are not unique."""
    is_named = Q(name=name)
    if name.isdecimal() and len(name) < 10:
        is_named |= Q(pk=int(name))
    return Project.objects.filter(is_named).order_by("pk")
