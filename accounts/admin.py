"""Accounts and projects in Django's admin; the console's pages close accounts, and keep every study an owner."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm, UserCreationForm
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms.models import BaseInlineFormSet, modelform_factory
from django.http import HttpRequest

from accounts.enums import ProjectRole
from accounts.models import Project, ProjectMembership, User
from accounts.services.projects import remove_member, set_member
from core.errors import ParallaxError

# Tables of django-allauth: second factors are reset by the console, where it is logged.
admin.site.unregister([EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken])


@admin.register(User)
class ResearcherAdmin(UserAdmin[User]):
    """Accounts by e-mail address."""

    form = modelform_factory(User, form=UserChangeForm, fields="__all__")
    add_form = modelform_factory(User, form=UserCreationForm, fields=["email"])
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


class MembershipFormSet(BaseInlineFormSet[Any, Any, Any]):
    """Members of a project or study that are added and removed."""

    def clean(self) -> None:
        """An owner with an active account stays."""
        super().clean()
        stay = [
            form.instance
            for form in self.forms
            if form.instance.researcher_id and not getattr(form, "cleaned_data", {}).get("DELETE")
        ]
        if not any(member.role == ProjectRole.OWNER and member.researcher.is_active for member in stay):
            name = self.instance._meta.verbose_name
            raise ValidationError(f"A {name} needs an owner with an active account. Add another owner first.")


class MembershipInline(admin.TabularInline[Any, Any]):
    """So that a project or study whose owners left can be given another; rows are added or removed, not changed."""

    formset = MembershipFormSet
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class MembersAdmin(admin.ModelAdmin[Any]):
    """Read-only but for the members: a service changes these, and logs what it does."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def change_members(self, subject: Any, added: list[Any], removed: list[Any], actor: Any) -> None:
        """Change the members of a project or study. Raises ParallaxError."""
        raise NotImplementedError

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        formset.save(commit=False)
        try:
            with transaction.atomic():
                self.change_members(form.instance, formset.new_objects, formset.deleted_objects, request.user)
        except ParallaxError as refusal:
            messages.error(request, str(refusal))


class ProjectMembershipInline(MembershipInline):
    """Members of a project."""

    model = ProjectMembership
    fields = ("researcher", "role")


@admin.register(Project)
class ProjectAdmin(MembersAdmin):
    """Projects by name."""

    list_display = ["name", "created_at"]
    search_fields = ["name"]
    fields = ("name",)
    readonly_fields = ("name",)
    inlines = [ProjectMembershipInline]

    def change_members(self, subject: Project, added: list[Any], removed: list[Any], actor: Any) -> None:
        for new in added:
            set_member(project=subject, email=new.researcher.email, role=new.role, actor=actor)
        for old in removed:
            remove_member(project=subject, membership=old, actor=actor)
