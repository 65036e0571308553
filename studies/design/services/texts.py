"""The researcher's texts changed by language and name, in a draft and while a study runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

CONSENT_TEXTS = ("consent", "consent_boxes")
ENDING_TEXTS = ("screened_out", "quota_full", "withdrawn")
NOTE_TEXTS = ("contact", "declined", "closed")  # what no answer depends on
CHANGEABLE_TEXTS = ("title", *CONSENT_TEXTS, "debriefing", *ENDING_TEXTS, *NOTE_TEXTS)


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
