"""The page of a device that was handed over: its researcher unlocks it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.forms import UnlockForm
from accounts.services.device_lock import has_pin, researcher_of_lock, unlock_device
from core.errors import ParallaxError


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unlock(request: HttpRequest) -> HttpResponse:
    """Sign the researcher in who locked this device, by their PIN or password."""
    researcher = researcher_of_lock(request)
    if researcher is None:
        return redirect("accounts:sign_in")
    form = UnlockForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(unlock_device(request=request, secret=form.cleaned_data["secret"]))
        except ParallaxError as refusal:
            form.add_error("secret", str(refusal))
    form.fields["secret"].label = "PIN or password" if has_pin(request) else "Password"
    return render(request, "accounts/unlock.html", {"form": form, "researcher": researcher})
