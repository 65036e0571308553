"""What the items of a dataset are, and the language of their default texts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction

from catalog.item_types import item_type as item_type_with
from catalog.models import Dataset
from core.errors import ParallaxError, ParameterError
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


def check_item_type(key: str | None) -> None:
    """Raise `dataset.unknown_item_type`, with the keys there are, for a key that no item type has."""
    if key is None:
        return
    try:
        item_type_with(key)
    except ParameterError as problem:
        raise ParallaxError("dataset.unknown_item_type", str(problem)) from problem


def change_item_language(*, dataset: Dataset, language: str, actor: Any = None) -> Dataset:
    """Change the language of the default texts of a dataset's items; logged. Empty means unknown.

    Participant pages in other languages mark the default texts with it. A second call changes nothing. Raises
    `dataset.unknown_language`.
    """
    check_item_language(language)
    return _changed(dataset, "item_language", language, actor)


def change_item_type(*, dataset: Dataset, item_type: str, actor: Any = None) -> Dataset:
    """Change the item type of a dataset; logged. New studies use its words, and existing studies keep theirs.

    A second call changes nothing. Raises `dataset.unknown_item_type`.
    """
    check_item_type(item_type)
    return _changed(dataset, "item_type", item_type, actor)


@transaction.atomic
def _changed(dataset: Dataset, field: str, value: str, actor: Any) -> Dataset:
    current = Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    before = getattr(current, field)
    if before != value:
        setattr(current, field, value)
        current.save(update_fields=[field, "updated_at"])
        LogEntry.objects.create(
            actor=actor,
            kind=current._meta.label_lower,
            object_id=current.pk,
            reason=f"{field.replace('_', ' ').capitalize()} changed.",
            facts={"from": before, "to": value},
        )
    return current
