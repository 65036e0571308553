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
    """Limits how often one network may submit a form; axes does not stop attempts on many accounts."""

    limit: RateLimit

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Process the form, or respond with status 429 and the time to wait."""
        network = network_of(request.META["REMOTE_ADDR"])
        seconds = seconds_to_wait(self.limit, type(self).__name__, network)
        if seconds:
            context = {"minutes": -(-seconds // 60)}
            response = render(request, "accounts/too_often.html", context, status=429)
            response.headers["Retry-After"] = str(seconds)
            return response
        answer: HttpResponse = super().post(request, *args, **kwargs)  # type: ignore[misc]
        return answer


class SignIn(LimitedByNetwork, auth_views.LoginView):
    """Also limited by django-axes: five wrong passwords for a name and address lock it for fifteen minutes."""

    limit = RateLimit(60, 900)
    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class PasswordReset(LimitedByNetwork, auth_views.PasswordResetView):
    """Sends a link; the response is the same whether or not the address has an account."""

    limit = RateLimit(12, 3600)
    template_name = "accounts/password_reset.html"
    email_template_name = "accounts/password_reset_email.txt"
    subject_template_name = "accounts/password_reset_subject.txt"
    success_url = reverse_lazy("accounts:password_reset_sent")

    def form_valid(self, form: Any) -> HttpResponse:
        """Send the e-mail, with the configured site address if there is one."""
        self.extra_email_context = {"site_url": settings.SITE_URL}
        return super().form_valid(form)


class PasswordResetSent(auth_views.PasswordResetDoneView):
    """Confirms that an e-mail was sent."""

    template_name = "accounts/password_reset_sent.html"


class PasswordResetConfirm(auth_views.PasswordResetConfirmView):
    """Sets the new password."""

    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:sign_in")


class PasswordChange(auth_views.PasswordChangeView):
    """Changes the password of the signed-in researcher."""

    template_name = "accounts/password_change.html"
    success_url = reverse_lazy("accounts:account")


def account(request: HttpRequest) -> HttpResponse:
    """Show the account and change its name."""
    form = NameForm(request.POST or None, instance=cast("User", request.user))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Your name is saved."))
        return redirect("accounts:account")
    return render(request, "accounts/account.html", {"form": form})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """List and create access tokens; only the response to the form contains the text of a new token."""
    researcher = cast("User", request.user)
    form = TokenForm(request.POST or None)
    token, text = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            token, text = create_token(owner=researcher, **form.cleaned_data)
        except ParallaxError as refusal:
            form.add_error(None, str(refusal))
        else:
            form = TokenForm()
    context = {"form": form, "tokens": tokens_of(researcher), "created": token, "text": text}
    return render(request, "accounts/tokens.html", context)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of the account's own tokens."""
    token = get_object_or_404(tokens_of(request.user), pk=pk)
    revoke_token(token=token, actor=cast("User", request.user))
    messages.success(request, _("The token %(name)s is revoked.") % {"name": token.name})
    return redirect("accounts:tokens")
