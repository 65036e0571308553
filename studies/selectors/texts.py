"""The researcher's own texts: in which languages, and whom they name as a contact."""

from __future__ import annotations

import time
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

from studies.enums import Role
from studies.models import Study, StudyMembership
from studies.selectors.markdown import rendered
from studies.selectors.placeholders import filled

OWNER_KEPT_SECONDS = 30.0  # every page names the contact
INTERFACE_LANGUAGES = tuple(code for code, _name in settings.LANGUAGES)


def texts_of(study: Study, language: str) -> dict[str, Any]:
    """Return the researcher's texts in a language, or in the first that they are written in, placeholders filled."""
    spoken = language if study.texts.get(language) else next(iter(study.texts), "")
    own: dict[str, Any] = filled(study.texts.get(spoken, {}), study.settings, spoken)
    return own


def written_languages(study: Study) -> tuple[str, ...]:
    """Return the languages that both the study and the interface are written in, those offered first."""
    order = [*study.settings.get("languages", ()), *study.texts]
    found = tuple(code for code in dict.fromkeys(order) if code in study.texts and code in INTERFACE_LANGUAGES)
    return found or INTERFACE_LANGUAGES[:1]


def languages_of(study: Study) -> tuple[str, ...]:
    """Return the languages that the study is offered in, as it orders them: of those it is written in, its choice."""
    written = written_languages(study)
    chosen = study.settings.get("languages", ())
    return tuple(code for code in written if code in chosen) or written


@lru_cache(maxsize=64)
def _first_owner(study_id: int, _made_at: datetime, _moment: int) -> str | None:
    """Return the address of the study's first owner, as it was at most `OWNER_KEPT_SECONDS` ago."""
    owners = StudyMembership.objects.filter(study=study_id, role=Role.OWNER).order_by("pk")
    return owners.values_list("researcher__email", flat=True).first()


def contact_of(study: Study, language: str) -> SafeString:
    """Return whom to ask about the study: the researcher's own text, or else the address of its first owner."""
    if own := texts_of(study, language).get("contact"):
        return rendered(own)
    owner = _first_owner(study.pk, study.created_at, int(time.monotonic() / OWNER_KEPT_SECONDS))
    return format_html('<p><a href="mailto:{0}">{0}</a></p>', owner) if owner else SafeString("")
