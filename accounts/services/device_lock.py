"""Hand a device over: its researcher is signed out, and unlocks it afterwards with a short PIN or their password."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from accounts.models import BACKEND, User
from core.errors import ParallaxError
from core.rate_limits import RateLimit, seconds_to_wait

LOCK, PIN = "device_lock", "device_pin"  # in the session
SHORTEST_PIN, LONGEST_PIN = 4, 8
MOST_WRONG_PINS = 5
ATTEMPTS = RateLimit(2 * MOST_WRONG_PINS, 900)  # also of requests at the same time


def set_pin(*, request: HttpRequest, pin: str) -> None:
    """Choose the PIN of this device until the researcher signs out; only its hash is stored, in the session.

    Raises `device.bad_pin`.
    """
    if not (pin.isascii() and pin.isdecimal() and SHORTEST_PIN <= len(pin) <= LONGEST_PIN):
        raise ParallaxError("device.bad_pin", f"A PIN has {SHORTEST_PIN} to {LONGEST_PIN} digits.")
    request.session[PIN] = make_password(pin)


def has_pin(request: HttpRequest) -> bool:
    """Whether this device has a PIN."""
    return bool((request.session.get(LOCK) or {}).get("pin") or request.session.get(PIN))


def lock_device(*, request: HttpRequest, return_to: str) -> None:
    """Sign the researcher out and begin a session without a user, which they can unlock.

    `return_to` is the path of the page that unlocking opens.
    """
    user = cast("User", request.user)
    lock = {
        "user": user.pk,
        "hash": user.get_session_auth_hash(),  # so that whatever ends sessions ends the lock
        "pin": request.session.get(PIN, ""),
        "return_to": return_to,
        "wrong": 0,
    }
    logout(request)
    request.session[LOCK] = lock


def researcher_of_lock(request: HttpRequest) -> User | None:
    """The researcher who locked this device; None if it is not locked, or their account is no longer active or ended
    its sessions since.
    """
    lock = request.session.get(LOCK)
    user = User.objects.filter(pk=lock["user"], is_active=True).first() if lock else None
    if lock is None or user is None:
        return None
    return user if constant_time_compare(lock.get("hash", ""), user.get_session_auth_hash()) else None


def unlock_device(*, request: HttpRequest, secret: str) -> str:
    """Sign the researcher who locked the device in again, and return the path of the page to open.

    Five wrong PINs delete the PIN, and the password is needed; wrong passwords are limited as on the sign-in page.
    Raises `device.not_locked`, `device.wrong_secret`, `device.too_many_pins`.
    """
    user = researcher_of_lock(request)
    if user is None:
        raise ParallaxError("device.not_locked", "This device is not locked. Sign in.")
    lock: dict[str, Any] = request.session[LOCK]
    if lock["pin"] and secret.isdecimal() and len(secret) <= LONGEST_PIN:
        _check_pin(request, lock, secret)
    elif authenticate(request, username=user.email, password=secret) != user:
        raise ParallaxError("device.wrong_secret", "This is not the PIN or password of the account.")
    login(request, user, backend=BACKEND)
    forget_lock(request)
    if lock["pin"]:
        request.session[PIN] = lock["pin"]
    return str(lock["return_to"])


def _check_pin(request: HttpRequest, lock: dict[str, Any], pin: str) -> None:
    wait = seconds_to_wait(ATTEMPTS, "device-pin", str(request.session.session_key), is_shared=False)
    if not wait and check_password(pin, lock["pin"]):
        return
    wrong = lock["wrong"] + 1
    is_over = bool(wait) or wrong >= MOST_WRONG_PINS
    request.session[LOCK] = {**lock, "wrong": wrong, "pin": "" if is_over else lock["pin"]}
    if is_over:
        raise ParallaxError("device.too_many_pins", "Too many wrong PINs. Enter the password of the account.")
    raise ParallaxError("device.wrong_secret", "This is not the PIN of this device.")


def forget_lock(request: HttpRequest) -> None:
    """Delete the lock, after signing in."""
    request.session.pop(LOCK, None)
