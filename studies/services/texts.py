"""The researcher's texts changed by language and name, in a draft and while a study runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

CONSENT_TEXTS = ("consent", "consent_boxes")
NOTE_TEXTS = ("contact", "declined", "closed")  # what no answer depends on
CHANGEABLE_TEXTS = ("title", *CONSENT_TEXTS, "debriefing", *NOTE_TEXTS)


def with_texts(
    texts: Mapping[str, Mapping[str, Any]], changed: Mapping[str, Mapping[str, Any]], *, names: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return `texts` with what was changed of the `names`; others stay, and an empty one is none at all."""
    made = {language: dict(own) for language, own in texts.items()}
    for language, said in changed.items():
        own = made.setdefault(language, {})
        for name in names:
            if said.get(name):
                own[name] = said[name]
            elif name in said:
                own.pop(name, None)
    return made
