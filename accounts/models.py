"""Researchers' accounts, access tokens, invitations and projects."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from accounts.enums import READING, ProjectRole, Scope
from core.models import TimeStampedModel
from core.transitions import log_change
from jobs.models import Job

BACKEND = "django.contrib.auth.backends.ModelBackend"  # that every session names, however it began


class ResearcherManager(UserManager["User"]):
    """Creates accounts that sign in by e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        return self.create_user(email, password, **{"is_staff": True, "is_superuser": True, **fields})


class User(AbstractUser):
    """A researcher: signs in by e-mail address, owns studies or is invited to them."""

    username = None  # type: ignore[assignment]
    email = models.EmailField(_("e-mail address"), unique=True)
    name = models.CharField(_("name"), max_length=150, blank=True)
    # Sessions name this number: raising it ends them all.
    n_session_ends = models.PositiveIntegerField(default=0, editable=False)
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = ResearcherManager()  # type: ignore[misc]

    class Meta:
        verbose_name = _("researcher")
        verbose_name_plural = _("researchers")

    def __str__(self) -> str:
        return self.name or self.email

    get_full_name = get_short_name = __str__

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the account; a new password revokes its tokens, as it ends its sessions, however it was set."""
        # What set_password leaves for save, which clears it; an account that is new has no tokens.
        is_new_password = getattr(self, "_password", None) is not None
        with transaction.atomic():
            super().save(*args, **kwargs)
            if is_new_password:
                for token in self.tokens.filter(revoked_at=None):
                    token.revoke(actor=self, reason="Token revoked by a new password.")

    def get_session_auth_hash(self) -> str:
        """What a session has to hold: it changes with the password, and when all sessions are ended."""
        return self._of_this_time(super().get_session_auth_hash())

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """The same by earlier secret keys."""
        for digest in super().get_session_auth_fallback_hash():
            yield self._of_this_time(digest)

    def _of_this_time(self, digest: str) -> str:
        if not self.n_session_ends:
            return digest
        return salted_hmac("accounts.sessions", f"{digest}:{self.n_session_ends}", algorithm="sha256").hexdigest()


class Token(models.Model):
    """A researcher's access token for programs; only its SHA-256 digest and first characters are stored."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(_("name"), max_length=80)
    start = models.CharField(max_length=12)  # of the token's text, by which its owner knows it again
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=60, default=READING)  # of accounts.enums.Scope, with spaces
    # The study or project that it is limited to. Once that is deleted, the token opens nothing.
    only_type = models.ForeignKey(ContentType, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    only_id = models.PositiveBigIntegerField(null=True, blank=True)
    only = GenericForeignKey("only_type", "only_id")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)  # without it, as in old rows, the token is not valid
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.scope.split())

    @property
    def scope_text(self) -> str:
        """The scopes as people read them."""
        return ", ".join(str(Scope(word).label) for word in self.scope.split())

    @property
    def is_expired(self) -> bool:
        return self.expires_at is None or self.expires_at <= timezone.now()

    @transaction.atomic
    def revoke(self, *, actor: User, reason: str = "Token revoked.") -> None:
        """Revoke the token and log it; a second call changes nothing."""
        now = timezone.now()
        if Token.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now):
            self.revoked_at = now
            self.record(actor, "valid", "revoked", reason)

    def record(self, actor: User, before: str, after: str, reason: str) -> None:
        facts = {"owner": self.owner_id, "name": self.name, "scope": self.scope}
        if self.only_type is not None:
            facts["only"] = f"{self.only_type.model} {self.only_id}"
        log_change(self, before, after, actor=actor, reason=reason, facts=facts)

    @property
    def is_valid(self) -> bool:
        return self.revoked_at is None and not self.is_expired


class KnownNetwork(models.Model):
    """A network that an account signed in from, as a keyed digest; see `accounts.services.sign_in`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="known_networks")
    digest = models.CharField(max_length=64)
    used_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="known_network_once")]

    def __str__(self) -> str:
        return f"A network of {self.user}"


class Letter(models.Model):
    """An e-mail that waits for a worker. One for an address without an account has no user and is not sent."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="letters")
    text = models.TextField(blank=True)  # empty: a password reset, whose link is made when it is sent
    site = models.TextField(blank=True)  # what that links to where PARALLAX_URL does not say it
    created_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"A letter to {self.user}"


class Invitation(models.Model):
    """A link that creates an account, or adds a role to one, once; only the SHA-256 digest of its key is stored."""

    email = models.EmailField(_("e-mail address"), blank=True)  # empty: anyone who has the link
    digest = models.CharField(max_length=64, unique=True)
    offer = models.CharField(max_length=300)  # the role it grants, in words
    is_administrator = models.BooleanField(default=False)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Invitation {self.pk}: {self.offer}"

    @property
    def is_open(self) -> bool:
        return self.accepted_at is None and self.revoked_at is None and self.expires_at > timezone.now()


WRITERS = (ProjectRole.OWNER, ProjectRole.MEMBER)
EVERY_ROLE = tuple(ProjectRole)


class ProjectQuerySet(models.QuerySet["Project"]):
    """Projects by the researchers in them."""

    def of(self, researcher: Any, roles: Collection[str] = EVERY_ROLE) -> Self:
        """The projects in which `researcher` has one of the roles; none for a visitor."""
        if not researcher.is_authenticated:
            return self.none()
        memberships = ProjectMembership.objects.filter(researcher=researcher, role__in=roles)
        return self.filter(pk__in=memberships.values("project"))


class Project(TimeStampedModel):
    """A team's datasets and runs, which are invisible outside the team, also to administrators."""

    name = models.CharField(_("name"), max_length=120)  # not unique: a refused name would reveal another project

    jobs = GenericRelation(Job, "subject_id", "subject_type")

    objects = ProjectQuerySet.as_manager()
    researchers: models.ManyToManyField[User, ProjectMembership] = models.ManyToManyField(
        User, through="ProjectMembership", related_name="projects"
    )

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("projects:detail", args=[self.pk])


class ProjectMembership(models.Model):
    """A researcher's role in a project: viewers read, members also change, owners also choose the members."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    researcher = models.ForeignKey(User, on_delete=models.CASCADE, related_name="project_memberships")
    role = models.CharField(_("role"), max_length=12, choices=ProjectRole, default=ProjectRole.VIEWER)

    class Meta:
        ordering = ["project_id", "id"]
        constraints = [models.UniqueConstraint(fields=["project", "researcher"], name="project_membership_once")]

    def __str__(self) -> str:
        return f"{self.researcher} ({self.role}) in {self.project}"


def in_projects_of(researcher: Any, field: str = "project", roles: Collection[str] = EVERY_ROLE) -> Q:
    """The rows whose project, named by `field`, is none or one in which `researcher` has one of the roles.

    A row without a project is public to all researchers of the installation. A visitor sees no row at all.
    """
    if not researcher.is_authenticated:
        return Q(pk__in=())
    own = Project.objects.of(researcher, roles).order_by().values("pk")
    return Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__in": own})
