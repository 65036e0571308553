"""Operations that change datasets."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from catalog.models import Upload
from catalog.services.dataset_jobs import prepare_import
from catalog.services.resumable_uploads import append_piece, begin_upload
from tests.parallax.api_writes.write import ROLES, Scene, Write

RATINGS = b"user,item,rating\n" + b"".join(b"%d,%d,%d\n" % (u, i, 1 + (u + i) % 5) for u in range(9) for i in range(9))
OWN = {**dict.fromkeys(ROLES, 404)}  # its owner's alone
CHANGERS = {**dict.fromkeys(ROLES, 403)}  # its owner and staff


def _nothing(_scene: Scene) -> Mapping[str, Any]:
    return {}


def _upload(scene: Scene, *, is_complete: bool = False) -> Upload:
    upload = begin_upload(actor=scene.owner, name="ratings.csv", size=len(RATINGS), sha256=sha256(RATINGS).hexdigest())
    if is_complete:
        append_piece(upload=upload, offset=0, piece=SimpleUploadedFile("bytes", RATINGS))
    return upload


def _of_upload(scene: Scene) -> Mapping[str, Any]:
    return {"pk": _upload(scene).pk}


def _complete(scene: Scene) -> Mapping[str, Any]:
    _upload(scene, is_complete=True)
    return {}


def _import(scene: Scene) -> Mapping[str, Any]:
    return {"job": prepare_import(actor=scene.owner, uploads=[SimpleUploadedFile("ratings.csv", RATINGS)]).pk}


def _version(scene: Scene) -> Mapping[str, Any]:
    dataset = scene.study.dataset_version.dataset
    type(dataset).objects.filter(pk=dataset.pk).update(owner=scene.owner)
    return {"name": dataset.name, "number": scene.study.dataset_version.number}


WRITES = [
    Write(
        "upload_create", "post", "uploads-list", dict.fromkeys(ROLES, 201), _nothing,
        lambda _scene: {"name": "a.csv", "size": 1, "sha256": "0" * 64},
    ),
    Write("upload_append", "post", "uploads-detail", {**OWN, "owner": 200}, _of_upload, lambda _scene: RATINGS),
    Write("upload_delete", "delete", "uploads-detail", {**OWN, "owner": 204}, _of_upload),
    Write(
        "dataset_create", "post", "datasets-list", {**dict.fromkeys(ROLES, 400), "owner": 202}, _complete,
        lambda _scene: {"uploads": [Upload.objects.get().pk], "name": "mine"},
    ),
    Write(
        "dataset_download", "post", "datasets-downloads", dict.fromkeys(ROLES, 202), _nothing,
        lambda _scene: {"set": "ml-latest-small", "accepted": True},
    ),
    Write(
        "dataset_import_choose", "post", "datasets-imports", {**OWN, "owner": 202}, _import,
        lambda _scene: {"name": "mine"},
    ),
    Write(
        "dataset_version_change", "patch", "versions-detail", {**CHANGERS, "owner": 200, "administrator": 200},
        _version, lambda _scene: {"item_type": "book"},
    ),
    Write(
        "dataset_metadata_add", "post", "versions-metadata", {**CHANGERS, "owner": 202, "administrator": 202}, _version,
        lambda _scene: {"file": SimpleUploadedFile("facts.csv", b"item,kind,value\n1,plot,A\n"), "on_bad_row": "drop"},
        is_form=True,
    ),
    Write(
        "dataset_subset_create", "post", "versions-subsets", {**CHANGERS, "owner": 202, "administrator": 202}, _version,
        lambda _scene: {"top_items": 10},
    ),
]  # fmt: skip
