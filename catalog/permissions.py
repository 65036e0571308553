"""Permissions for changes to the catalogue."""

from __future__ import annotations

from typing import Any

from django.utils.module_loading import import_string

from accounts.enums import ProjectRole
from accounts.models import Project
from catalog.apps import PICTURE_READERS
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import may_change

NAME_TAKEN = "This name is not available to you. Choose another name."


def may_see_pictures(user: Any, version: DatasetVersion) -> bool:
    """Whether an account may see the posters and clips of a version: it sees the dataset, or a study that shows it."""
    if not user.is_authenticated:
        return False
    is_visible = Dataset.objects.visible_to(user).filter(pk=version.dataset_id).exists()
    return is_visible or any(import_string(may_see)(user, version.pk) for may_see in PICTURE_READERS)


def may_retire(user: Any, version: DatasetVersion) -> bool:
    """Whether `user` may change the version's dataset (staff who are no administrators may not), and the version is
    not retired yet.
    """
    dataset = version.dataset
    is_theirs = dataset.project_id is not None or user.is_superuser or dataset.owner_id == user.pk
    return version.retired_at is None and is_theirs and may_change(user, dataset)


def may_add_version(user: Any, version: DatasetVersion) -> bool:
    """Whether `user` may change the version's dataset, and the version is not retired."""
    return version.retired_at is None and may_change(user, version.dataset)


def may_move(user: Any, dataset: Dataset) -> bool:
    """Whether `user` may choose who sees the dataset: an owner of its project; of a public one, its owner or staff."""
    if dataset.project_id is None:
        return may_change(user, dataset)
    return Project.objects.of(user, (ProjectRole.OWNER,)).filter(pk=dataset.project_id).exists()


def may_run(user: Any, version: DatasetVersion) -> bool:
    """Whether `user` may start runs on a version, and upload models for them: it is in use, and not only viewed."""
    return version.retired_at is None and Dataset.objects.usable_by(user).filter(pk=version.dataset_id).exists()


def may_use_name(user: Any, name: str) -> bool:
    """Whether a dataset that `user` imports may have this name: it is free, or `user` may add versions to it."""
    newest = DatasetVersion.objects.filter(dataset__name=name).select_related("dataset").order_by("-number").first()
    return newest is None or may_add_version(user, newest)


def may_name_server_files(user: Any) -> bool:
    """Whether `user` may import files that lie on the server: staff only, as they may be anybody's."""
    return bool(user.is_staff or user.is_superuser)
