"""Accounts in Django's admin: to look up; the console's pages close them, and keep every study an owner."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from accounts.forms import AccountChangeForm, AccountCreationForm
from accounts.models import User

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
