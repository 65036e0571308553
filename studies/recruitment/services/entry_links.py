"""Signed entry links for previews and simulated participants.

The plain link of a study creates live participants and needs no signature. The mode in a link is signed with the
installation's secret and bound to the study; otherwise anyone could enter as a preview.
"""

from __future__ import annotations

from django.core import signing
from django.urls import reverse
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies.enums import Mode
from studies.models import Study

SALT = "parallax.entry"
PARAMETER = "as"
VALID_SECONDS = 7 * 24 * 3600


def entry_link(*, study: Study, mode: str, entry_key: str = "", ticket: int | None = None) -> str:
    """Return the path of the study's consent page for that mode.

    A link with an `entry_key` always leads to the same participant; a `ticket` is the condition of a preview.
    """
    path = reverse("participant:consent", args=[study.slug])
    if mode == Mode.LIVE and not entry_key:
        return path
    facts = {"study": study.pk, "mode": mode, "key": entry_key, **({} if ticket is None else {"ticket": ticket})}
    signed = signing.dumps(facts, salt=SALT, compress=True)
    return f"{path}?{PARAMETER}={signed}"


def read_entry(*, study: Study, signed: str) -> tuple[str, str, int | None]:
    """Return mode, entry key and ticket of a signed link; raises `study.bad_link` if it is invalid or expired."""
    if not signed:
        return Mode.LIVE, "", None
    try:
        content = signing.loads(signed, salt=SALT, max_age=VALID_SECONDS)
    except signing.BadSignature as problem:
        raise ParallaxError(
            "study.bad_link", _("This link is incomplete or too old. Please ask for a new one.")
        ) from problem
    if content["study"] != study.pk:
        raise ParallaxError("study.bad_link", _("This link belongs to another study."))
    return str(content["mode"]), str(content["key"]), content.get("ticket")
