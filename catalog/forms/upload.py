"""The first step of an import: a file or a path on the server, or a MovieLens dataset to download."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.forms.upload_limits import MOST_DATASET, MOST_UPLOADED, DropInput, file_size, require_size
from catalog.importers.download import SETS
from catalog.selectors.server_files import import_folder

BY_COMMAND = "Use the command import_dataset for larger files."
BY_PATH = "Copy a larger file into the import folder on the server, and write its path below."


class UploadForm(forms.Form):
    """A dataset: an upload or, for those who may, a path beneath the import folder."""

    file = forms.FileField(
        label="Dataset",
        required=False,
        widget=DropInput(MOST_DATASET),
        help_text="A table (CSV, TSV, Parquet, JSON Lines; also gzipped) or a ZIP archive such as MovieLens.",
    )
    items_file = forms.FileField(
        label="Items (optional)",
        required=False,
        widget=DropInput(MOST_UPLOADED),
        help_text="A table with the id and the title of each item. An archive such as MovieLens has it already.",
    )
    path = forms.CharField(
        label="Or a path on the server",
        required=False,
        max_length=300,
        help_text="Relative to the import folder: a file, an archive or a folder.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "list": "server-files", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, has_paths: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has_paths = has_paths and import_folder() is not None
        if not self.has_paths:
            del self.fields["path"]
        limit = file_size(MOST_DATASET)
        self.fields["file"].help_text += f" At most {limit}; {self.remedy[0].lower()}{self.remedy[1:]}"
        self.fields["items_file"].help_text += f" At most {file_size(MOST_UPLOADED)}."

    @property
    def remedy(self) -> str:
        """What to do with a larger file."""
        return BY_PATH if self.has_paths else BY_COMMAND

    def clean_file(self) -> Any:
        """The upload, if there is one and it is not too large."""
        upload = self.cleaned_data["file"]
        if upload is not None:
            require_size(upload.size, MOST_DATASET, self.remedy)
        return upload

    def clean_items_file(self) -> Any:
        """The items, if there are any and they are not too large."""
        upload = self.cleaned_data["items_file"]
        if upload is not None:
            require_size(upload.size, MOST_UPLOADED, BY_COMMAND)
        return upload

    def clean(self) -> dict[str, Any]:
        """Either an upload or a path is needed, and not both."""
        values = super().clean() or {}
        if "file" not in self.errors:
            upload, path = values.get("file"), values.get("path")
            if not (upload or path):
                self.add_error("file", "Choose a file to upload." + (" Or write a path." if self.has_paths else ""))
            elif upload and path:
                self.add_error("path", "There is a file to upload as well. Remove one of the two.")
        return values


class DownloadForm(forms.Form):
    """A MovieLens dataset to download."""

    set = forms.ChoiceField(label="Dataset", choices=[(name, f"{name}: {words}") for name, words in SETS.items()])
    accepted = forms.BooleanField(
        label="I accept these terms",
        error_messages={"required": "The dataset can be downloaded once you accept its terms."},
    )
