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


def may_use_name(user: Any, name: str) -> bool:
    """Whether a dataset that `user` imports may have this name: it is free, or `user` may add versions to it."""
    newest = DatasetVersion.objects.filter(dataset__name=name).order_by("-number").first()
    return newest is None or may_add_version(user, newest)


def may_name_server_files(user: Any) -> bool:
    """Whether `user` may import files that lie on the server: staff only, as they may be anybody's."""
    return bool(user.is_staff or user.is_superuser)
