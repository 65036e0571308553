"""Changes the language of the items of a dataset."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction

from catalog.models import Dataset
from core.errors import ParallaxError
from core.models import LogEntry


def installed_languages() -> tuple[str, ...]:
    """The codes of the languages of the installation, which items may have texts in."""
    return tuple(code for code, _name in settings.LANGUAGES)


def check_item_language(code: str | None) -> None:
    """Raise `dataset.unknown_language`, with the codes there are, for a code that is not of the installation."""
    if code and code not in installed_languages():
        raise ParallaxError(
            "dataset.unknown_language",
            f"There is no language {code!r}: choose one of {', '.join(installed_languages())}, or leave it empty.",
        )


@transaction.atomic
def change_item_language(*, dataset: Dataset, language: str, actor: Any = None) -> Dataset:
    """Change the language of the default texts of a dataset's items; logged. Empty means unknown.

    Participant pages in other languages mark the default texts with it. A second call changes nothing. Raises
    `dataset.unknown_language`.
    """
    check_item_language(language)
    current = Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    before = current.item_language
    if before != language:
        current.item_language = language
        current.save(update_fields=["item_language", "updated_at"])
        LogEntry.objects.create(
            actor=actor,
            kind=current._meta.label_lower,
            object_id=current.pk,
            reason="Item language changed.",
            facts={"from": before, "to": language},
        )
    return current
