"""Proof of work before entry: a challenge that the browser solves while the visitor reads the consent text.

The challenge is signed, expires, and is for one entry key, which enrols one participant at most: so it is used once,
and nothing is stored. A visitor whose browser does not solve it waits or answers a question instead.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

from django.core import signing
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.errors import ParallaxError
from core.rate_limits import RateLimit, seconds_to_wait
from studies.enums import Entrance, Mode, ProofOfWork, WithoutScript
from studies.participation.services.entry_gate import Door, EntryAttempt
from studies.participation.services.entry_limits import MOST_PER_NETWORK, WINDOW, TooOften, is_unusual
from studies.recruitment.services.tokens import digest_of_key

SALT = "parallax.entry-work"
EXPIRES_SECONDS = 2 * 3600
# Several small parts take nearly the same time on each attempt; one large one would vary a lot.
PARTS, BITS = 8, 11
LONGEST_ANSWER = 200
WAIT_SECONDS = 20
SHARE_WITHOUT_SCRIPT = 6  # of a network's consents within WINDOW, one in this many may be without a solution
WORK_CODES = ("study.work_needed", "study.work_expired")


@dataclass(frozen=True)
class Challenge:
    """What the consent form holds: the signed text, and its fallback's numbers, whose sum is asked."""

    text: str
    numbers: tuple[int, int]
    parts: int = PARTS
    bits: int = BITS


def is_offered(attempt: EntryAttempt) -> bool:
    """Whether the consent form has a challenge: for visitors who enter without a link or list of their own."""
    return (
        attempt.mode == Mode.LIVE
        and not attempt.is_looking
        and not attempt.is_individual
        and attempt.recruiting.entrance in (Entrance.OPEN, Entrance.PANEL_ID)
        and attempt.recruiting.proof_of_work != ProofOfWork.NEVER
    )


def challenge_for(attempt: EntryAttempt, entry_key: str) -> Challenge:
    """The challenge of a form with this key; the one that the form already had, while it is valid."""
    if _issued_at(attempt, entry_key) is not None:
        return _challenge(attempt.work)
    return _challenge(signing.dumps([_subject(attempt, entry_key), time.time()], salt=SALT))


def _subject(attempt: EntryAttempt, entry_key: str) -> str:
    return f"{attempt.study.pk}-{digest_of_key(entry_key)[:32]}"


def _challenge(text: str) -> Challenge:
    digest = salted_hmac(f"{SALT}.sum", text, algorithm="sha256").digest()
    return Challenge(text, (2 + digest[0] % 8, 2 + digest[1] % 8))


def _issued_at(attempt: EntryAttempt, entry_key: str) -> float | None:
    """When the form's challenge was issued; None if it is not valid for the study and this key, or has expired."""
    try:
        subject, issued_at = signing.loads(attempt.work, salt=SALT, max_age=EXPIRES_SECONDS)
    except signing.BadSignature:
        return None
    return float(issued_at) if subject == _subject(attempt, entry_key) else None


def _has_zeros(challenge: str, part: int, number: str) -> bool:
    digest = hashlib.sha256(f"{challenge}:{part}:{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - BITS) == 0


def is_solution(challenge: str, answer: str) -> bool:
    """Whether the answer names a number for each part whose SHA-256 begins with enough zero bits."""
    numbers = answer.split(".") if len(answer) <= LONGEST_ANSWER else []
    return len(numbers) == PARTS and all(_has_zeros(challenge, part, number) for part, number in enumerate(numbers))


def solution_of(challenge: str) -> str:
    """Solve a challenge, as the script of the consent page does."""
    return ".".join(
        next(str(number) for number in count() if _has_zeros(challenge, part, str(number))) for part in range(PARTS)
    )


def require_work(attempt: EntryAttempt, door: Door) -> None:
    """Raise unless a newcomer has solved their challenge, or need not.

    A solution is accepted first, so that it costs no query. Without one the fallback counts, up to a share of the
    network's consents. Raises `study.work_needed`, `study.work_expired`, `TooOften`.
    """
    if not attempt.network or not is_offered(attempt) or door.link is not None:
        return
    issued_at = _issued_at(attempt, attempt.entry_key)
    if issued_at is not None and is_solution(attempt.work, attempt.work_answer):
        return
    recruiting = attempt.recruiting
    if recruiting.proof_of_work == ProofOfWork.UNUSUAL and not is_unusual(attempt.study, timezone.now()):
        return
    if issued_at is None:
        message = _("This page was open for a long time. Please press the button again.")
        raise ParallaxError("study.work_expired", message)
    if recruiting.without_script == WithoutScript.SUM:
        if attempt.sum_answer.strip() != str(sum(_challenge(attempt.work).numbers)):
            message = _("Please answer the question above the button, then press the button again.")
            raise ParallaxError("study.work_needed", message)
    elif (left := round(issued_at + WAIT_SECONDS - time.time())) > 0:
        message = ngettext(
            "Please wait %(seconds)d second, then press the button again.",
            "Please wait %(seconds)d seconds, then press the button again.",
            left,
        ) % {"seconds": left}
        raise ParallaxError("study.work_needed", message)
    _count_without_script(attempt)


def _count_without_script(attempt: EntryAttempt) -> None:
    most = max(1, (attempt.recruiting.most_per_network or MOST_PER_NETWORK) // SHARE_WITHOUT_SCRIPT)
    limit = RateLimit(most, int(WINDOW / timedelta(seconds=1)))
    if seconds := seconds_to_wait(limit, "study", str(attempt.study.pk), "without-script", attempt.network):
        raise TooOften(seconds)
