"""Files that programs send in pieces: begun, continued after an interruption, checked, and opened for an import."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.db import transaction
from django.db.models import Sum

from catalog.models import Upload
from catalog.services.upload_folders import delete_folder, file_in, new_folder, store_upload
from core.errors import ParallaxError

MOST_UNUSED = 640 * 2**20  # bytes of all uploads of an account


def begin_upload(*, actor: Any, name: str, size: int, sha256: str) -> Upload:
    """Return a new upload, or the same one of the account if it has not been imported.

    Raises `upload.other_file`: one of this name has another size or digest; and `upload.too_many`.
    """
    own = Upload.objects.filter(owner=actor)
    if (same := own.filter(name=name).first()) is not None:
        if (same.size, same.sha256) != (size, sha256):
            raise ParallaxError(
                "upload.other_file",
                f"An upload of {name} with another size or digest is there. Continue or delete it, or send this file "
                "under another name.",
                {"id": same.pk, "size": same.size, "sha256": same.sha256, "offset": same.offset},
            )
        return same
    if (own.aggregate(total=Sum("size"))["total"] or 0) + size > MOST_UNUSED:
        raise ParallaxError(
            "upload.too_many",
            f"Your uploads would have more than {MOST_UNUSED // 2**20:,} MB in all. Import or delete some first.",
        )
    return Upload.objects.create(owner=actor, name=name, size=size, sha256=sha256, folder=new_folder())


def append_piece(*, upload: Upload, offset: int, piece: UploadedFile[Any]) -> Upload:
    """Store the next bytes of an upload; with the last ones, check its digest.

    Raises `upload.wrong_offset`, `upload.too_long`, `upload.no_room`, and `upload.other_digest`: then the upload is
    empty again.
    """
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload.pk)  # of two pieces at once, one comes first
        if offset != upload.offset:
            raise ParallaxError(
                "upload.wrong_offset",
                f"{upload.offset:,} bytes are there, so the next piece begins at {upload.offset}.",
                {"offset": upload.offset},
            )
        if offset + (piece.size or 0) > upload.size:
            raise ParallaxError("upload.too_long", f"{upload.name} would have more than its {upload.size:,} bytes.")
        store_upload(piece, folder=upload.folder, part=str(offset))
        upload.offset += piece.size or 0
        upload.save()
    if upload.is_complete:
        with opened_upload(upload) as whole:
            digest = hashlib.file_digest(whole, "sha256").hexdigest()
        if digest != upload.sha256:
            delete_folder(upload.folder)
            upload.folder, upload.offset = new_folder(), 0
            upload.save()
            raise ParallaxError(
                "upload.other_digest",
                f"The bytes have the SHA-256 {digest}, which is not the stated one, so they were deleted. Send the "
                "file again from offset 0, or delete the upload and state its own digest.",
                {"offset": 0, "sha256": digest},
            )
    return upload


def opened_upload(upload: Upload) -> TemporaryUploadedFile:
    """The pieces of an upload as one file. Raises `upload.gone`."""
    pieces, at = [], 0
    while at < upload.offset:
        piece = file_in(upload.folder, str(at))
        if piece is None:
            raise ParallaxError("upload.gone", f"The bytes of {upload.name} are no longer there. Upload it again.")
        pieces.append(piece)
        at += piece.stat().st_size
    whole = TemporaryUploadedFile(upload.name, "application/octet-stream", upload.size, None)
    for piece in pieces:
        with piece.open("rb") as source:
            shutil.copyfileobj(source, whole)
    whole.seek(0)
    return whole


def delete_uploads(uploads: Iterable[Upload]) -> None:
    """Delete uploads with their bytes."""
    for upload in uploads:
        upload.delete()
        delete_folder(upload.folder)
