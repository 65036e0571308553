"""Entry keys, with which somebody comes in once, and the tokens of the personal links that are made from them."""

from __future__ import annotations

import hashlib
import secrets

from django.utils.crypto import salted_hmac
from django.utils.http import urlsafe_base64_encode

from studies.enums import Entrance
from studies.models import Participant, PersonalLink, Study


def new_entry_key() -> str:
    """A random key for one consent form, or for one browser."""
    return secrets.token_urlsafe(32)


def digest_of_key(entry_key: str) -> str:
    """What is kept of an entry key: of a consent form's or of a personal link's."""
    return hashlib.sha256(entry_key.encode()).hexdigest()


def token_for(study: Study, entry_key: str) -> str:
    """The token that belongs to a consent form's own random key.

    It is made from that key and the installation's secret, so that a form sent twice leads to one link and
    the token itself need not be kept. The key is a random one of `new_entry_key`, seen by one browser alone.
    """
    made = salted_hmac("parallax.participant", f"{study.pk}:{entry_key}", algorithm="sha256")
    return urlsafe_base64_encode(made.digest())


def digest_of_declined(study: Study, entry_key: str) -> str:
    """What is kept of the key of a form that was declined: no personal link's row can be told by it."""
    return salted_hmac("parallax.declined", f"{study.pk}:{entry_key}", algorithm="sha256").hexdigest()


def digest_of_token(token: str) -> str:
    """What is kept of a personal link's token."""
    return hashlib.sha256(token.encode()).hexdigest()


def may_continue(participant: Participant, browser_key: str) -> bool:
    """Whether the entry key that a participant came by still leads to them.

    The key of a consent form is known to one browser alone. A personal link hands over once: after that it leads on
    only together with the random key of the browser that it handed over to.
    """
    if participant.entrance not in (Entrance.PERSONAL, Entrance.INTERVIEW):
        return True
    link = PersonalLink.objects.filter(study_id=participant.study_id, digest=participant.entry_key)
    return bool(browser_key) and link.filter(browser_digest=digest_of_key(browser_key)).exists()


def link_token(*, study: Study, entry_key: str) -> str:
    """The token of the participant who entered by a key, or nothing where nobody has."""
    token, digest = token_for(study, entry_key), digest_of_key(entry_key)
    # Where the installation's secret was changed since, the newer link is the good one.
    n = Participant.objects.filter(study=study, entry_key=digest).update(token_digest=digest_of_token(token))
    return token if n else ""
