"""The researcher's own texts: their names and languages, changes of them, the contact they name, and their HTML."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import nh3
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from studies.design.presets.loader import REQUIRED_TEXTS, translation_gaps
from studies.design.selectors.placeholders import content_of
from studies.enums import Role
from studies.models import Study, StudyMembership

OWNER_KEPT_SECONDS = 30.0  # every page names the contact
SOURCE = "en"  # in which the interface is written; every other language has a catalogue
CONSENT_TEXTS = ("consent", "consent_boxes")
ENDING_TEXTS = ("screened_out", "quota_full", "withdrawn")
NOTE_TEXTS = ("contact", "declined", "closed")  # what no answer depends on
CHANGEABLE_TEXTS = ("title", *CONSENT_TEXTS, "debriefing", *ENDING_TEXTS, *NOTE_TEXTS)
TAGS = {"p", "br", "strong", "em", "ul", "ol", "li", "h1", "h2", "h3", "blockquote", "a", "code", "hr"}
_parser = MarkdownIt("commonmark", {"html": False})


def interface_languages() -> tuple[str, ...]:
    """Return the languages of the installation that the participants' pages are translated into, in its order."""
    return _with_catalogue(tuple(code for code, _name in settings.LANGUAGES), tuple(map(str, settings.LOCALE_PATHS)))


@lru_cache(maxsize=4)
def _with_catalogue(codes: tuple[str, ...], folders: tuple[str, ...]) -> tuple[str, ...]:
    def has_catalogue(code: str) -> bool:
        return any((Path(folder) / code / "LC_MESSAGES" / "django.mo").is_file() for folder in folders)

    return tuple(code for code in codes if code == SOURCE or has_catalogue(code))


def language_name(code: str) -> str:
    """Return what the installation calls a language."""
    return str(dict(settings.LANGUAGES).get(code, code))


def languages_in_translation(study: Study) -> dict[str, list[str]]:
    """Return the languages in which the study still lacks words, each with what it lacks."""
    gaps = {code: translation_gaps(study, study.texts, code) for code in interface_languages()}
    return {code: lacking for code, lacking in gaps.items() if lacking}


def texts_of(study: Study, language: str) -> dict[str, Any]:
    """Return the researcher's texts in a language, or in the first that they are written in, placeholders filled."""
    texts = content_of(study).texts
    own = dict(texts.get(language, {}))
    if all(own.get(name) for name in REQUIRED_TEXTS):
        return own
    # A language that is still being translated: what it lacks is read in the first one, in a draft's previews alone.
    instead = next(iter(texts.values()), {})
    return {**{name: instead[name] for name in (REQUIRED_TEXTS if own else instead) if name in instead}, **own}


def written_languages(study: Study) -> tuple[str, ...]:
    """Return the languages that both the study and the interface are written in, those offered first."""
    texts, interface = content_of(study).texts, interface_languages()
    order = dict.fromkeys([*study.design.languages, *texts])
    return tuple(code for code in order if code in texts and code in interface) or interface[:1]


def languages_of(study: Study) -> tuple[str, ...]:
    """Return the languages that the study is offered in, as it orders them: of those it is written in, its choice."""
    written = written_languages(study)
    chosen = study.design.languages
    return tuple(code for code in written if code in chosen) or written


@lru_cache(maxsize=64)
def _first_owner(study_id: int, _made_at: datetime, _moment: int) -> str | None:
    owners = StudyMembership.objects.filter(study=study_id, role=Role.OWNER).order_by("pk")
    return owners.values_list("researcher__email", flat=True).first()


def contact_of(study: Study, language: str) -> SafeString:
    """Return the study's contact: the researcher's own text, or else the address of its first owner."""
    if own := texts_of(study, language).get("contact"):
        return rendered(own)
    owner = _first_owner(study.pk, study.created_at, int(time.monotonic() / OWNER_KEPT_SECONDS))
    return format_html('<p><a href="mailto:{0}">{0}</a></p>', owner) if owner else SafeString("")


def with_texts(
    texts: Mapping[str, Mapping[str, Any]], changed: Mapping[str, Mapping[str, Any]], *, names: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return `texts` with what was changed of the `names`; others stay, and an empty one is none at all."""
    merged = {language: dict(own) for language, own in texts.items()}
    for language, own_changes in changed.items():
        own = merged.setdefault(language, {})
        for name in names:
            if own_changes.get(name):
                own[name] = own_changes[name]
            elif name in own_changes:
                own.pop(name, None)
    return merged


@lru_cache(maxsize=256)
def rendered(text: str) -> SafeString:
    """Return Markdown as HTML of a few harmless tags; raw HTML in it is shown as text."""
    cleaned = nh3.clean(
        _parser.render(text), tags=TAGS, attributes={"a": {"href"}}, url_schemes={"https", "http", "mailto"}
    )
    return mark_safe(cleaned)  # noqa: S308 -- cleaned just above
