"""Sign-in, sign-out, password reset, and the researcher's own account."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _

from accounts.forms import NameForm, SignInForm
from accounts.models import User


class SignIn(auth_views.LoginView):
    """Throttled by django-axes: five wrong passwords for an address close it for fifteen minutes."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class PasswordReset(auth_views.PasswordResetView):
    """Sends a link; says the same whether or not the address has an account."""

    template_name = "accounts/password_reset.html"
    email_template_name = "accounts/password_reset_email.txt"
    subject_template_name = "accounts/password_reset_subject.txt"
    success_url = reverse_lazy("accounts:password_reset_sent")


class PasswordResetSent(auth_views.PasswordResetDoneView):
    """Says that a letter is on its way."""

    template_name = "accounts/password_reset_sent.html"


class PasswordResetConfirm(auth_views.PasswordResetConfirmView):
    """Takes the new password."""

    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:sign_in")


class PasswordChange(auth_views.PasswordChangeView):
    """Changes the password of whoever is signed in."""

    template_name = "accounts/password_change.html"
    success_url = reverse_lazy("accounts:account")


def account(request: HttpRequest) -> HttpResponse:
    """Show and change one's own name."""
    form = NameForm(request.POST or None, instance=cast("User", request.user))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Your name is saved."))
        return redirect("accounts:account")
    return render(request, "accounts/account.html", {"form": form})
