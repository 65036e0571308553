"""Random strings of participants: entry keys, tokens of personal links, signed links, and codes that people read.

Tokens are derived from entry keys. A signed link has a participant's id, and the id's HMAC-SHA-256 by a key of the
study, like those of oTree's rooms. A completion code is random, unique within the study, drawn once, and shown again on
every load.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import urlencode

from django.db import transaction
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import urlsafe_base64_encode

from core.provenance import digest_of_token
from studies.enums import Entrance
from studies.models import Participant, PersonalLink, Study
from studies.recruitment.panels.exits import STATIC, UNIQUE, Exit
from studies.recruitment.panels.panel import Panel
from studies.recruitment.panels.sites import LABEL, NONE

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # without look-alikes: no 0 O 1 I L
CODE_LENGTH = 6  # of a participant code
COMPLETION_LENGTH = 8


def new_entry_key() -> str:
    """Return a random key for one consent form or one browser."""
    return secrets.token_urlsafe(32)


def digest_of_key(entry_key: str) -> str:
    """Return the stored digest of an entry key, from a consent form or a personal link."""
    return digest_of_token(entry_key)


def token_for(study: Study, entry_key: str) -> str:
    """Return the token for a consent form's entry key.

    The token is derived from the key and the installation's secret, so a form sent twice yields the same link and the
    token need not be stored. The key comes from `new_entry_key` and is known to only one browser.
    """
    digest = salted_hmac("parallax.participant", f"{study.pk}:{entry_key}", algorithm="sha256")
    return urlsafe_base64_encode(digest.digest())


def digest_of_declined(study: Study, entry_key: str) -> str:
    """Return the stored digest of a declined form's key; it cannot be matched to a personal link."""
    return salted_hmac("parallax.declined", f"{study.pk}:{entry_key}", algorithm="sha256").hexdigest()


def may_continue(participant: Participant, browser_key: str) -> bool:
    """Whether the participant's entry key still gives access to their session.

    The key of a consent form is known to only one browser. A personal link can be used once: afterwards it requires
    the random key of the browser that used it.
    """
    if participant.entrance not in (Entrance.PERSONAL, Entrance.INTERVIEW):
        return True
    link = PersonalLink.objects.filter(study_id=participant.study_id, digest=participant.entry_key)
    return bool(browser_key) and link.filter(browser_digest=digest_of_key(browser_key)).exists()


def link_token(*, study: Study, entry_key: str) -> str:
    """Return the token of the participant with this entry key, or an empty string."""
    token, digest = token_for(study, entry_key), digest_of_key(entry_key)
    # If the installation's secret has changed since, the newer link is valid.
    n = Participant.objects.filter(study=study, entry_key=digest).update(token_digest=digest_of_token(token))
    return token if n else ""


SIGNATURE = "hash"  # the parameter of a signed link


def new_signing_key() -> str:
    """Return a random key."""
    return secrets.token_hex(32)


def signed_parameter(panel: Panel) -> str:
    """Return the one parameter whose value is signed; with a second one, an id could enter twice."""
    return LABEL if panel.key == NONE else panel.person[0]


def signed_query(panel: Panel, key: str, value: str) -> str:
    """Return the query string of an id's link."""
    return urlencode({signed_parameter(panel): value, SIGNATURE: _signature(key, value)})


def is_signed(panel: Panel, key: str, parameters: Mapping[str, str]) -> bool:
    """Whether a link's id was signed by the key; an empty key has signed nothing."""
    value = parameters.get(signed_parameter(panel), "")
    return bool(key and value) and constant_time_compare(parameters.get(SIGNATURE, ""), _signature(key, value))


def _signature(key: str, value: str) -> str:
    return hmac.new(key.encode(), value.encode(), "sha256").hexdigest()


def random_code(length: int) -> str:
    """Return a random code of unambiguous characters."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def new_code(participant: Participant) -> str:
    """Draw a code that is unique within the study."""
    while True:
        code = random_code(COMPLETION_LENGTH)
        # Concurrent equal codes are practically impossible; the database would reject the second.
        if not Participant.objects.filter(study=participant.study_id, completion_code=code).exists():
            return code


@transaction.atomic
def code_of(*, participant: Participant, exit_: Exit) -> str:
    """Return the code that a participant sees at an exit; a unique code is drawn and stored on first use.

    Erased participants have no code and get no new one.
    """
    if exit_.code == STATIC:
        return exit_.static_code
    if exit_.code != UNIQUE:
        return ""
    if not participant.completion_code:
        current = Participant.objects.select_for_update(of=("self",)).get(pk=participant.pk)
        if not current.completion_code and current.erased_at is None:
            current.completion_code = new_code(current)
            current.save(update_fields=["completion_code", "updated_at"])
        participant.completion_code = current.completion_code
    return participant.completion_code
