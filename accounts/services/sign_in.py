"""Rules that every way to sign in obeys: locks by account and network, spraying, and the clock of idle sessions."""

from __future__ import annotations

import logging
import time
from typing import Any

from allauth.mfa.signals import authentication_failed
from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import User
from accounts.services.account_locks import note_network
from accounts.services.device_lock import forget_lock
from accounts.services.letters import send_to_administrators
from core.networks import network_of
from core.rate_limits import RateLimit, seconds_left, seconds_to_wait
from core.security_log import REFUSED, record_event

logger = logging.getLogger(__name__)

ACTIVE_AT = "active_at"  # in the session: when its researcher last did something
ACTIVITY_NOTED_SECONDS = 60
# Different accounts that one network may fail to sign in to. People mistype their own password; a network that fails
# with many accounts tries a list.
SPRAY_LIMITS = (RateLimit(9, 900), RateLimit(29, 86_400))


def _network(request: HttpRequest) -> str:
    return network_of(request.META.get("REMOTE_ADDR", ""))


def is_locked(request: HttpRequest, email: str) -> bool:
    """Whether this account may not sign in from this network now."""
    return is_network_locked(request) or not AxesProxyHandler.is_allowed(request, {"username": email})


def is_network_locked(request: HttpRequest) -> bool:
    """Whether this network failed to sign in to so many accounts that it may sign in to none."""
    network = _network(request)
    return any(seconds_left(limit, "spray", network) for limit in SPRAY_LIMITS)


@receiver(authentication_failed)
def note_wrong_code(sender: Any, request: HttpRequest, user: User, **_more: Any) -> None:
    """Count a wrong code as a wrong password is, towards the lock of the account."""
    user_login_failed.send(sender=__name__, credentials={"username": user.email}, request=request)


@receiver(user_login_failed)
def note_failure(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_more: Any) -> None:
    """Count the accounts that a network failed to sign in to, and notify administrators once it tries many."""
    if request is None:
        return
    network = _network(request)
    account = str(credentials.get("username") or "").lower()
    for limit in SPRAY_LIMITS:
        if seconds_to_wait(RateLimit(1, limit.seconds), "spray-account", network, account):
            continue  # counted before
        wait = seconds_to_wait(limit, "spray", network)
        if wait and not seconds_to_wait(RateLimit(1, limit.seconds), "spray-notice", network):
            _report_spraying(limit, wait)


def _report_spraying(limit: RateLimit, wait: int) -> None:
    """Log the lock and e-mail the administrators; the network's address is neither stored nor sent."""
    text = (
        f"One network failed to sign in to {limit.most + 1} different accounts. It is locked out for "
        f"{-(-wait // 60)} minutes; sessions that are signed in continue."
    )
    logger.warning("sign-in: %s", text)
    record_event("sign_in.network_locked", outcome=REFUSED, n=limit.most + 1)
    advice = (
        "Accounts with a second factor are safe from guessed passwords. The security log has the digest of the network "
        "(event sign_in.network_locked); the command `network_digest ADDRESS` prints the digest of an address."
    )
    send_to_administrators("passwords are being guessed", f"{text}\n\n{advice}\n")


@receiver(user_logged_in)
def note_signed_in(sender: Any, request: HttpRequest, user: User, **_more: Any) -> None:
    """Start the idle clock of a session, and know its network; a lock of the device ends."""
    request.session[ACTIVE_AT] = int(time.time())
    note_network(request=request, user=user)
    forget_lock(request)


def is_idle(request: HttpRequest, *, is_activity: bool) -> bool:
    """Whether the session was idle for too long; else, if the request is the researcher's own activity, note it."""
    now, limit = int(time.time()), settings.IDLE_MINUTES * 60
    if not limit:
        return False
    last = request.session.get(ACTIVE_AT)
    if last is not None and now - last >= limit:
        return True
    if last is None or (is_activity and now - last >= min(ACTIVITY_NOTED_SECONDS, limit // 2)):
        request.session[ACTIVE_AT] = now
    return False
