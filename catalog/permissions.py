"""Permissions for changes to the catalogue."""

from __future__ import annotations

from typing import Any

from catalog.models import Dataset, DatasetVersion


def may_retire(user: Any, version: DatasetVersion) -> bool:
    """Whether `user` owns the version's dataset or is an administrator, and it is not retired yet."""
    is_theirs = user.is_superuser or version.dataset.owner_id == user.pk
    return version.retired_at is None and is_theirs


def may_add_version(user: Any, version: DatasetVersion) -> bool:
    """Whether `user` owns the version's dataset or is staff, and it is not retired."""
    is_theirs = user.is_staff or user.is_superuser or version.dataset.owner_id == user.pk
    return version.retired_at is None and is_theirs


def may_change_item_type(user: Any, dataset: Dataset) -> bool:
    """Whether `user` owns the dataset or is staff."""
    return bool(user.is_staff or user.is_superuser or dataset.owner_id == user.pk)
