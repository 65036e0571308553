"""The first page of an import: files or a path on the server, perhaps with a recipe, or a MovieLens download."""

from __future__ import annotations

from typing import Any, cast

from django import forms

from catalog.forms.upload_limits import (
    MOST_DATASET,
    MOST_UPLOADED,
    FilesField,
    SizedFileField,
    file_size,
)
from catalog.importers.download import SETS
from catalog.importers.proposal import Proposal, of_recipe
from catalog.selectors.server_files import import_folder
from core.errors import ParameterError

BY_COMMAND = "Use the command import_dataset for larger files."
BY_PATH = "Copy a larger file into the import folder on the server, and write its path below."


class UploadForm(forms.Form):
    """A dataset: uploads or, for those who may, a path beneath the import folder."""

    uploads = FilesField(
        label="Files",
        most=MOST_DATASET,
        help_text="Tables (CSV, TSV, Excel, Parquet, JSON; also packed), together with their files of items or users, "
        "or a folder or dataset as an archive (ZIP, tar).",
    )
    path = forms.CharField(
        label="Or a path on the server",
        required=False,
        max_length=300,
        help_text="Relative to the import folder: a file, an archive or a folder.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "list": "server-files", "spellcheck": "false"}),
    )
    recipe = SizedFileField(
        label="Recipe (optional)",
        required=False,
        most=MOST_UPLOADED,
        remedy="A recipe is a short text.",
        help_text="A saved recipe (.yaml) for these files: columns, scale and choices as in an earlier import.",
    )

    def __init__(self, *args: Any, has_paths: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has_paths = has_paths and import_folder() is not None
        if not self.has_paths:
            del self.fields["path"]
        uploads = cast(FilesField, self.fields["uploads"])
        uploads.remedy = BY_PATH if self.has_paths else BY_COMMAND
        uploads.help_text += f" At most {file_size(MOST_DATASET)}; {uploads.remedy[0].lower()}{uploads.remedy[1:]}"

    def clean_uploads(self) -> list[Any]:
        """The uploads, if no two have one name."""
        uploads: list[Any] = self.cleaned_data["uploads"]
        names = [upload.name for upload in uploads]
        if twice := sorted(name for name in set(names) if names.count(name) > 1):
            raise forms.ValidationError(f"Two files are called {twice[0]}. Rename one.")
        return uploads

    def clean_recipe(self) -> Proposal | None:
        """The recipe, if there is one."""
        upload = self.cleaned_data["recipe"]
        if upload is None:
            return None
        try:
            return of_recipe(upload.read().decode())
        except (ParameterError, UnicodeDecodeError) as problem:
            raise forms.ValidationError(f"{upload.name}: {problem}") from problem

    def clean(self) -> dict[str, Any]:
        """Either an upload or a path is needed, and not both."""
        values = super().clean() or {}
        if "uploads" not in self.errors:
            uploads, path = values.get("uploads"), values.get("path")
            if not (uploads or path):
                self.add_error("uploads", "Choose a file to upload." + (" Or write a path." if self.has_paths else ""))
            elif uploads and path:
                self.add_error("path", "There is a file to upload as well. Remove one of the two.")
        return values


class DownloadForm(forms.Form):
    """A MovieLens dataset to download."""

    set = forms.ChoiceField(label="Dataset", choices=[(name, f"{name}: {words}") for name, words in SETS.items()])
    accepted = forms.BooleanField(
        label="I accept these terms",
        error_messages={"required": "The dataset can be downloaded once you accept its terms."},
    )
