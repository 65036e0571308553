"""Changes what the items of a dataset are."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from catalog.item_types import item_type as item_type_with
from catalog.models import Dataset
from core.errors import ParallaxError, ParameterError
from core.models import LogEntry


def check_item_type(key: str | None) -> None:
    """Raise `dataset.unknown_item_type`, with the keys there are, for a key that no item type has."""
    if key is None:
        return
    try:
        item_type_with(key)
    except ParameterError as problem:
        raise ParallaxError("dataset.unknown_item_type", str(problem)) from problem


@transaction.atomic
def change_item_type(*, dataset: Dataset, item_type: str, actor: Any = None) -> Dataset:
    """Change the item type of a dataset; logged. New studies use its words, and existing studies keep theirs.

    A second call changes nothing. Raises `dataset.unknown_item_type`.
    """
    check_item_type(item_type)
    current = Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    before = current.item_type
    if before != item_type:
        current.item_type = item_type
        current.save(update_fields=["item_type", "updated_at"])
        LogEntry.objects.create(
            actor=actor,
            kind=current._meta.label_lower,
            object_id=current.pk,
            reason="Item type changed.",
            facts={"from": before, "to": item_type},
        )
    return current
