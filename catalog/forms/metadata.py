"""The form of item metadata, pictures and clips."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.clip_types import CLIP_TYPES
from catalog.forms.upload_limits import (
    INVALID_ROWS,
    MOST_FILES,
    MOST_MEDIA,
    MOST_UPLOADED,
    FilesField,
    SizedFileField,
    file_size,
)
from catalog.importers.item_files import PICTURES

BY_COMMAND = "Use the command add_metadata for larger files."


class MetadataForm(forms.Form):
    """Uploaded item metadata, and pictures and clips; the worker checks their content."""

    file = SizedFileField(
        label="Metadata file",
        required=False,
        most=MOST_UPLOADED,
        remedy=BY_COMMAND,
        help_text=(
            "A table with one fact per row (item, kind, value) or one item per row (plot, genres, people, image, "
            "trailer, excerpt), or JSON; also gzipped. Item ids are those of the dataset. "
            f"At most {file_size(MOST_UPLOADED)}."
        ),
    )
    item_files = FilesField(
        label="Pictures and clips",
        most=MOST_MEDIA,
        remedy=BY_COMMAND,
        help_text=(
            f"Up to {MOST_FILES} files, or one ZIP archive of any number, together at most "
            f"{file_size(MOST_MEDIA)}: JPEG, PNG, GIF or WebP up to 4 MB each; WebM or MP4 video, MP3, M4A, Ogg, "
            "FLAC or WAV audio up to 32 MB each. The metadata file names them as images or trailers; without a "
            "metadata file, each file is named after the item's id, such as 296.jpg."
        ),
    )
    on_bad_row = forms.ChoiceField(label="Invalid rows", choices=INVALID_ROWS)

    def clean_item_files(self) -> list[Any]:
        """One archive, or files that are pictures or clips by themselves."""
        uploads: list[Any] = self.cleaned_data["item_files"]
        archives = [upload for upload in uploads if upload.name.lower().endswith(".zip")]
        if archives and len(uploads) > 1:
            raise forms.ValidationError(f"{archives[0].name} is an archive: send it alone, or files without it.")
        wrong = [problem for upload in uploads if not archives and (problem := _problem(upload))]
        if wrong:
            raise forms.ValidationError(wrong)
        return uploads

    def clean(self) -> dict[str, Any]:
        """Something to add is needed."""
        values = super().clean() or {}
        if not self.errors and not values["file"] and not values["item_files"]:
            self.add_error("file", "Choose a metadata file, or pictures or clips below.")
        return values


def _problem(upload: Any) -> str:
    """What is wrong with a picture; clips are looked at by the worker."""
    if upload.name.lower().rpartition(".")[2] in CLIP_TYPES:
        return ""
    if upload.size > PICTURES.most_bytes:
        return f"{upload.name} has {file_size(upload.size)}; a picture has at most {file_size(PICTURES.most_bytes)}."
    try:
        PICTURES.kind_of(upload.read())
    except ValueError as wrong:
        return f"{upload.name} {wrong}."
    finally:
        upload.seek(0)
    return ""
