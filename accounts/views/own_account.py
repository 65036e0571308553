"""Sign-in, sign-out, password reset, the researcher's own account and its access tokens."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.utils import perform_login
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.forms import NameForm, SignInForm, TokenForm, UnlockForm
from accounts.models import User
from accounts.selectors import tokens_of
from accounts.services import create_token
from accounts.services.accounts import end_sessions
from accounts.services.device_lock import has_pin, researcher_of_lock, unlock_device
from accounts.services.letters import send_later
from accounts.services.second_factor import has_second_factor
from accounts.services.sign_in import end_lock
from accounts.services.single_sign_on import institution
from accounts.views.network_limits import sign_in_refused, too_often
from core.outcomes import refusals_in
from core.rate_limits import RateLimit, seconds_to_wait


class SignIn(auth_views.LoginView):
    """Also limited by django-axes, whose locks are those of `accounts.services.sign_in`."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the form; a device that was handed over is unlocked first, unless another account signs in."""
        if "account" not in request.GET and researcher_of_lock(request) is not None:
            return redirect("accounts:unlock")
        response: HttpResponse = super().get(request, *args, **kwargs)
        return response

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the password, unless the network is locked for trying many accounts."""
        return sign_in_refused(request, "SignIn") or super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "institution": institution()}

    def form_valid(self, form: Any) -> HttpResponse:
        """Sign in, or ask for the second factor of the account."""
        response: HttpResponse = perform_login(self.request, form.get_user(), redirect_url=self.get_success_url())
        return response


class PasswordReset(auth_views.PasswordResetView):
    """Sends a link; the response and its time are the same whether or not the address has an account."""

    template_name = "accounts/password_reset.html"
    success_url = reverse_lazy("accounts:password_reset_sent")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Process the form, twelve times an hour from one network."""
        return too_often(request, "PasswordReset", RateLimit(12, 3600)) or super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Let a worker send the e-mail; at most three an hour to one address."""
        email = form.cleaned_data["email"]
        if not seconds_to_wait(RateLimit(3, 3600), "password-reset", email.strip().lower()):  # from all networks
            site = f"{self.request.scheme}://{self.request.get_host()}"
            send_later(user=next(iter(form.get_users(email)), None), site=site)
        return redirect(self.get_success_url())


class PasswordResetConfirm(auth_views.PasswordResetConfirmView):
    """Sets the new password."""

    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:sign_in")

    def form_valid(self, form: Any) -> HttpResponse:
        """Save it; the owner may sign in with it at once."""
        end_lock(request=self.request, user=cast("User", self.user))
        return super().form_valid(form)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unlock(request: HttpRequest) -> HttpResponse:
    """Sign the researcher in who locked this device, which was handed over, by their PIN or password."""
    researcher = researcher_of_lock(request)
    if researcher is None:
        return redirect("accounts:sign_in")
    form = UnlockForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "secret"):
            return redirect(unlock_device(request=request, secret=form.cleaned_data["secret"]))
    form.fields["secret"].label = "PIN or password" if has_pin(request) else "Password"
    return render(request, "accounts/unlock.html", {"form": form, "unlock_label": f"Unlock as {researcher}"})


@require_POST
def sessions_end(request: HttpRequest) -> HttpResponse:
    """End all sessions of the account except this one."""
    user = end_sessions(user=cast("User", request.user), actor=request.user)
    update_session_auth_hash(request, user)
    messages.success(request, _("All other sessions are ended."))
    return redirect("accounts:account")


def account(request: HttpRequest) -> HttpResponse:
    """Show the account and change its name."""
    form = NameForm(request.POST or None, instance=cast("User", request.user))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Your name is saved."))
        return redirect("accounts:account")
    context = {"form": form, "has_second_factor": has_second_factor(cast("User", request.user))}
    return render(request, "accounts/account.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """List and create access tokens; only the response to the form contains the text of a new token."""
    researcher = cast("User", request.user)
    form = TokenForm(request.POST or None, owner=researcher)
    token, text = None, ""
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            token, text = create_token(owner=researcher, **form.cleaned_data)
            form = TokenForm(owner=researcher)
    context = {"form": form, "tokens": tokens_of(researcher), "created": token, "text": text}
    return render(request, "accounts/tokens.html", context)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of the account's own tokens."""
    token = get_object_or_404(tokens_of(request.user), pk=pk)
    token.revoke(actor=cast("User", request.user))
    messages.success(request, _("The token %(name)s is revoked.") % {"name": token.name})
    return redirect("accounts:tokens")
