"""Links that say whose data will come of them: a preview of a researcher's, or a simulated participant.

The plain link of a study makes live participants and needs no signature. A mode in the address would let anyone
enter as a preview, so it is signed with the installation's secret and bound to the study.
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


def entry_link(*, study: Study, mode: str, entry_key: str = "") -> str:
    """Return the path of the study's consent page for that mode.

    With an `entry_key` the link stands for one participant: opened again, it leads to the same one.
    """
    path = reverse("participant:consent", args=[study.slug])
    if mode == Mode.LIVE and not entry_key:
        return path
    signed = signing.dumps({"study": study.pk, "mode": mode, "key": entry_key}, salt=SALT, compress=True)
    return f"{path}?{PARAMETER}={signed}"


def read_entry(*, study: Study, signed: str) -> tuple[str, str]:
    """Return mode and entry key of a signed link; raises `study.bad_link` for one that is not ours or too old."""
    if not signed:
        return Mode.LIVE, ""
    try:
        said = signing.loads(signed, salt=SALT, max_age=VALID_SECONDS)
    except signing.BadSignature as problem:
        raise ParallaxError(
            "study.bad_link", _("This link is incomplete or too old. Please ask for a new one.")
        ) from problem
    if said["study"] != study.pk:
        raise ParallaxError("study.bad_link", _("This link belongs to another study."))
    return str(said["mode"]), str(said["key"])
