"""Rules that every way to sign in obeys: locks of accounts and networks, spraying, and the clock of idle sessions.

At a network that an account signed in from before, its own wrong passwords and codes count towards its lock; at all
others those from everywhere together, so that many networks guess no faster than one and other networks do not lock
its owner out.
"""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from typing import Any

from allauth.mfa.signals import authentication_failed
from axes.handlers.database import AxesDatabaseHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.signals import user_locked_out
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db.models import Max, Sum
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.timesince import timeuntil

from accounts.models import KnownNetwork, User
from accounts.services.device_lock import forget_lock
from accounts.services.letters import send_later, send_to_administrators
from core.networks import first_address, network_of
from core.rate_limits import RateLimit, seconds_left, seconds_to_wait
from core.security_log import REFUSED, record_event

logger = logging.getLogger(__name__)

FIRST_DELAY, MOST_DOUBLINGS = timedelta(minutes=15), 6
KNOWN_DAYS, MOST_KNOWN = 90, 20  # for how long a network is known, and how many of one account
LETTERS = RateLimit(1, 86_400)  # to one account
ACTIVE_AT = "active_at"  # in the session: when its researcher last did something
ACTIVITY_NOTED_SECONDS = 60
# Different accounts that one network may fail to sign in to. People mistype their own password; a network that fails
# with many accounts tries a list.
SPRAY_LIMITS = (RateLimit(9, 900), RateLimit(29, 86_400))


def _digest(request: HttpRequest, user_pk: int) -> str:
    """A keyed digest of the request's network, different for each account."""
    text = f"{user_pk}\n{network_of(request.META.get('REMOTE_ADDR', ''))}"
    return salted_hmac("accounts.known-network", text, algorithm="sha256").hexdigest()


def _is_known(request: HttpRequest, email: str) -> bool:
    user = User.objects.filter(email=email).first()
    since = timezone.now() - timedelta(days=KNOWN_DAYS)
    return bool(user and user.known_networks.filter(digest=_digest(request, user.pk), used_at__gt=since).exists())


def note_network(*, request: HttpRequest, user: User) -> None:
    """Know the network of a sign-in from now on; forget old ones, and the account's oldest beyond a number."""
    now = timezone.now()
    KnownNetwork.objects.update_or_create(user=user, digest=_digest(request, user.pk), defaults={"used_at": now})
    KnownNetwork.objects.filter(used_at__lte=now - timedelta(days=KNOWN_DAYS)).delete()
    newest = KnownNetwork.objects.filter(user=user).order_by("-used_at", "-pk").values_list("pk", flat=True)
    KnownNetwork.objects.filter(pk__in=list(newest[MOST_KNOWN:])).delete()


def end_lock(*, request: HttpRequest, user: User) -> None:
    """End the lock of an account at the network of its owner, who read its mail there."""
    note_network(request=request, user=user)
    AxesProxyHandler.reset_attempts(ip_address=first_address(request), username=user.email)


def counted_together(request: HttpRequest, credentials: dict[str, Any] | None) -> list[Any]:
    """For django-axes: which wrong attempts count together at the network of the request."""
    email = str((credentials or {}).get(settings.AXES_USERNAME_FORM_FIELD) or "")
    return [["username", "ip_address"]] if _is_known(request, email) else ["username"]


class AccountLocks(AxesDatabaseHandler):  # type: ignore[misc]
    """Locks of django-axes that end after a delay, which doubles with every five wrong attempts within a day.

    Its own setting of a delay is also for how long it remembers attempts, so that by it no delay could grow.
    """

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """The wrong attempts of a day; 0 once the delay after the last one is over."""
        n, until = self._counted(request, credentials)
        return 0 if until and until <= request.axes_attempt_time else n  # type: ignore[attr-defined]

    def _counted(self, request: HttpRequest, credentials: dict[str, Any] | None) -> tuple[int, datetime | None]:
        """The number of wrong attempts, and the end of their lock, which may be over."""
        (attempts,) = self.get_user_attempts(request, credentials)
        counts = attempts.aggregate(n=Sum("failures_since_start"), last=Max("attempt_time"))
        n = int(counts["n"] or 0)
        n_doublings = min(n // settings.AXES_FAILURE_LIMIT - 1, MOST_DOUBLINGS)
        return n, counts["last"] + FIRST_DELAY * 2**n_doublings if n_doublings >= 0 else None

    def time_left(self, request: HttpRequest, email: str) -> str:
        """For how long the account is locked at the network of the request, in words; empty if it is not."""
        AxesProxyHandler.update_request(request)
        until = self._counted(request, {settings.AXES_USERNAME_FORM_FIELD: email})[1]
        now = timezone.now()
        return timeuntil(until + timedelta(seconds=59), now) if until and until > now else ""


def locked_out(request: HttpRequest, response: Any = None, credentials: dict[str, Any] | None = None) -> HttpResponse:
    """The page of a lock, status 429: of the account that the credentials name, or else of the network."""
    email = str((credentials or {}).get(settings.AXES_USERNAME_FORM_FIELD) or "")
    context = {"time_left": AccountLocks().time_left(request, email) if email else ""}
    return render(request, "accounts/locked_out.html", context, status=429)


@receiver(user_locked_out)
def notify_owner(sender: Any, request: HttpRequest, username: str | None, **_more: Any) -> None:
    """E-mail the owner of a locked account, at most once a day; without an account the same is done, and not sent."""
    email = username or ""
    if seconds_to_wait(LETTERS, "lock-letter", email):
        return
    if _is_known(request, email):
        where = "from a network that you signed in from before. Sign-in from that network"
    else:
        where = "from networks that are new to it. Sign-in from all networks that you did not sign in from lately"
    text = (
        f"Five wrong passwords or codes were entered for your account, {where} is locked for "
        f"{AccountLocks().time_left(request, email)}, and for longer if it goes on. With a second factor, a "
        "guessed password does not sign in."
    )
    send_later(user=User.objects.filter(email=email, is_active=True).first(), text=text)


def is_locked(request: HttpRequest, email: str) -> bool:
    """Whether this account may not sign in from this network now."""
    return is_network_locked(request) or not AxesProxyHandler.is_allowed(request, {"username": email})


def is_network_locked(request: HttpRequest) -> bool:
    """Whether this network failed to sign in to so many accounts that it may sign in to none."""
    network = network_of(request.META.get("REMOTE_ADDR", ""))
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
    network = network_of(request.META.get("REMOTE_ADDR", ""))
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
