"""Accounts and projects in Django's admin; the console's pages close accounts, and keep every study an owner."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest

from accounts.enums import ProjectRole
from accounts.forms import AccountChangeForm, AccountCreationForm
from accounts.models import Project, ProjectMembership, User
from accounts.services.projects import remove_member, set_member
from core.errors import ParallaxError

# Tables of django-allauth: second factors are reset by the console, where it is logged.
admin.site.unregister([EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken])


@admin.register(User)
class ResearcherAdmin(UserAdmin[User]):
    """Accounts by e-mail address."""

    form = AccountChangeForm
    add_form = AccountCreationForm
    ordering = ["email"]
    list_display = ["email", "name", "is_active", "is_staff", "last_login"]
    search_fields = ["email", "name"]
    fieldsets = (
        (None, {"fields": ("email", "password", "name")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
    )
    readonly_fields = ["is_active", "is_staff", "is_superuser"]
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "password1", "password2")}),)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Deleting an account here could leave a study without an owner."""
        return False


class ProjectMembershipFormSet(BaseInlineFormSet[ProjectMembership, Project, Any]):
    """Members that are added and removed."""

    def clean(self) -> None:
        """A project keeps an owner, and members have active accounts."""
        super().clean()
        stay = [
            form.instance
            for form in self.forms
            if form.instance.researcher_id and not getattr(form, "cleaned_data", {}).get("DELETE")
        ]
        if not any(member.role == ProjectRole.OWNER and member.researcher.is_active for member in stay):
            raise ValidationError("A project needs an owner with an active account. Add another owner first.")


class ProjectMembershipInline(admin.TabularInline[ProjectMembership, Project]):
    """So that a project whose owners left can be given another; rows are added or removed, and not changed."""

    model = ProjectMembership
    formset = ProjectMembershipFormSet
    fields = ("researcher", "role")
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin[Project]):
    """Read-only but for its members, as a study."""

    list_display = ["name", "created_at"]
    search_fields = ["name"]
    fields = ("name",)
    readonly_fields = ("name",)
    inlines = [ProjectMembershipInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Change members by the service, which leaves a line in the project's log."""
        formset.save(commit=False)
        project, actor = form.instance, request.user
        try:
            with transaction.atomic():
                for new in formset.new_objects:
                    set_member(project=project, email=new.researcher.email, role=new.role, actor=actor)
                for old in formset.deleted_objects:
                    remove_member(project=project, membership=old, actor=actor)
        except ParallaxError as refusal:
            messages.error(request, str(refusal))
