"""Accounts in Django's admin."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from accounts.forms import AccountChangeForm, AccountCreationForm
from accounts.models import User


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
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "password1", "password2")}),)
