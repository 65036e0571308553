"""Sign-in, sign-out, password reset, the researcher's own account and its access tokens."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.forms import NameForm, SignInForm, TokenForm
from accounts.models import User
from accounts.selectors import tokens_of
from accounts.services import create_token, revoke_token
from core.errors import ParallaxError
from core.networks import RateLimit, network_of, seconds_to_wait


class LimitedByNetwork:
    """A form that one network may send so many times: somebody who tries many accounts is not stopped by axes."""

    limit: RateLimit

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Take the form, or say with status 429 when to try again."""
        network = network_of(request.META["REMOTE_ADDR"])
        seconds = seconds_to_wait(self.limit, type(self).__name__, network)
        if seconds:
            context = {"minutes": -(-seconds // 60)}
            response = render(request, "accounts/too_often.html", context, status=429)
            response.headers["Retry-After"] = str(seconds)
            return response
        taken: HttpResponse = super().post(request, *args, **kwargs)  # type: ignore[misc]
        return taken


class SignIn(LimitedByNetwork, auth_views.LoginView):
    """Throttled by django-axes too: five wrong passwords for a name and address close it for fifteen minutes."""

    limit = RateLimit(60, 900)
    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class PasswordReset(LimitedByNetwork, auth_views.PasswordResetView):
    """Sends a link; says the same whether or not the address has an account."""

    limit = RateLimit(12, 3600)
    template_name = "accounts/password_reset.html"
    email_template_name = "accounts/password_reset_email.txt"
    subject_template_name = "accounts/password_reset_subject.txt"
    success_url = reverse_lazy("accounts:password_reset_sent")

    def form_valid(self, form: Any) -> HttpResponse:
        """Send the letter, with the site's own address where the installation says it."""
        self.extra_email_context = {"site_url": settings.SITE_URL}
        return super().form_valid(form)


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


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """List one's access tokens and make new ones; the text of a new one is in the answer to the form alone."""
    researcher = cast("User", request.user)
    form = TokenForm(request.POST or None)
    made, text = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            made, text = create_token(owner=researcher, **form.cleaned_data)
        except ParallaxError as refusal:
            form.add_error(None, str(refusal))
        else:
            form = TokenForm()
    context = {"form": form, "tokens": tokens_of(researcher), "made": made, "text": text}
    return render(request, "accounts/tokens.html", context)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of one's own tokens."""
    token = get_object_or_404(tokens_of(request.user), pk=pk)
    revoke_token(token=token, actor=cast("User", request.user))
    messages.success(request, _("The token %(name)s is revoked.") % {"name": token.name})
    return redirect("accounts:tokens")
