"""What goes into the security log: refusals and downloads, sign-ins and changes of accounts, and the activity log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import Signal, receiver
from django.http import HttpRequest, HttpResponseBase

from accounts.models import User
from accounts.services import sign_in
from core.models import LogEntry
from core.security_log import REFUSED, events_of, record_event
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study

API = "/api/"
OF_STUDIES = ("/studies/", "/s/", "/api/v1/studies/")
STUDY, PARTICIPANT = Study._meta.label_lower, Participant._meta.label_lower
SECOND_FACTOR = {
    authenticator_added: "second_factor.added",
    authenticator_removed: "second_factor.removed",
    authenticator_reset: "second_factor.reset",
}
# Facts of the activity log that are no free text.
FACTS = ("researcher", "owner", "scope", "invitation", "format", "with_external_ids", "n", "most_per_network")


class SecurityLog:
    """Gives each request an id, and logs refusals and downloads, wherever they were decided."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with events_of(request):
            response = self._get_response(request)
            match = request.resolver_match
            study = match.kwargs.get("slug") if match and request.path.startswith(OF_STUDIES) else None
            if event := refusal_of(request, response.status_code):
                record_event(event, outcome=REFUSED, status=response.status_code, study=study)
            elif _is_download(request, response):
                record_event("data.downloaded", study=study)
            response.headers["X-Request-ID"] = request.security_id  # type: ignore[attr-defined]
        return response


def refusal_of(request: HttpRequest, status: int) -> str:
    """The event that a response is; empty if it refuses nothing.

    What an account may not see does not exist for it (404), so that each object it does not find is logged. Visitors
    mistype addresses.
    """
    if status == 403:
        return "access.forbidden"
    if status == 429:
        return "access.too_often"
    if status == 400 and not request.path.startswith(API):  # there, a field to correct
        return "access.bad_request"
    if status == 409 and request.path.startswith(API):
        return "access.conflict"
    if status == 401 and "Authorization" in request.headers:
        return "access.bad_token"
    match = request.resolver_match
    if status == 404 and match and match.kwargs and hasattr(request, "user") and request.user.is_authenticated:
        return "access.not_found"
    return ""


def _is_download(request: HttpRequest, response: HttpResponseBase) -> bool:
    if response.status_code != 200 or request.method == "HEAD":
        return False
    disposition = response.headers.get("Content-Disposition", "")
    # The API streams tables without naming a file.
    return disposition.startswith("attachment") or (response.streaming and request.path.startswith(API))


@receiver(user_logged_in)
def _on_signed_in(sender: Any, request: HttpRequest, user: User, **_more: Any) -> None:
    record_event("sign_in", request=request, account=user)


@receiver(user_logged_out)
def _on_signed_out(sender: Any, request: HttpRequest, user: User | None, **_more: Any) -> None:
    if user is not None:
        record_event("sign_out", request=request, account=user)


def _account(credentials: dict[str, Any]) -> User | None:
    """The account that was meant. What was typed is not logged: it may be a password."""
    return User.objects.filter(email=str(credentials.get("username") or "").strip().lower()).first()


@receiver(user_login_failed)
def _on_sign_in_failed(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_more: Any
) -> None:
    by = "second factor" if sender == sign_in.__name__ else "password"
    record_event("sign_in", outcome=REFUSED, request=request, account=_account(credentials), by=by)


@receiver(user_locked_out)
def _on_locked_out(sender: Any, request: HttpRequest, username: str, **_more: Any) -> None:
    record_event("sign_in.locked", outcome=REFUSED, request=request, account=_account({"username": username}))


@receiver(list(SECOND_FACTOR))
def _on_second_factor(
    sender: Any, signal: Signal, request: HttpRequest, user: User, authenticator: Any, **_more: Any
) -> None:
    record_event(SECOND_FACTOR[signal], request=request, account=user, factor=str(authenticator.type))


@receiver(post_save, sender=User)
def _on_account_saved(sender: Any, instance: User, created: bool, **_more: Any) -> None:
    if created:
        transaction.on_commit(lambda: record_event("account.created", object=instance.pk))
    elif getattr(instance, "_password", None) is not None:  # what set_password leaves until it is saved
        transaction.on_commit(lambda: record_event("account.password_set", object=instance.pk))


@receiver(post_save, sender=LogEntry)
def _on_activity(sender: Any, instance: LogEntry, created: bool, **_more: Any) -> None:
    """Log what a person did, and what happened to accounts, studies and participants who withdrew."""
    is_withdrawal = instance.kind == PARTICIPANT and instance.to_status == ParticipantStatus.WITHDRAWN
    is_of_accounts = instance.kind.startswith("accounts.")
    if created and (instance.actor_id or is_of_accounts or instance.kind == STUDY or is_withdrawal):
        # After the commit: what was rolled back did not happen.
        transaction.on_commit(lambda: _record_activity(instance))


def _record_activity(entry: LogEntry) -> None:
    details: dict[str, Any] = {name: entry.facts[name] for name in FACTS if name in entry.facts}
    details["new_role"] = entry.facts.get("role")
    if entry.kind == STUDY:
        details["study"] = Study.objects.filter(pk=entry.object_id).values_list("slug", flat=True).first()
    elif entry.kind == PARTICIPANT:
        participant = Participant.objects.filter(pk=entry.object_id).select_related("study").first()
        # Simulated participants by the thousand would bury what the log is for.
        if participant is None or participant.mode != Mode.LIVE:
            return
        details |= {"study": participant.study.slug, "participant": participant.code}
    else:
        details["object"] = entry.object_id
    if entry.kind.startswith("accounts.") or (entry.kind == STUDY and not entry.actor_id):
        details["reason"] = entry.reason  # written by the program; others hold words of a person
    record_event(f"{entry.kind.rpartition('.')[2]}.{_act(entry)}", account=entry.actor, **details)


def _act(entry: LogEntry) -> str:
    if act := entry.facts.get("act"):
        return str(act)
    if entry.from_status != entry.to_status:
        return entry.to_status if entry.from_status else "created"
    if "researcher" in entry.facts:
        return "member_changed"
    return "invited" if "invitation" in entry.facts else "changed"
