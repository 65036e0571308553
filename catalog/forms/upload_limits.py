"""The largest files that pages take, and the widgets of their fields."""

from __future__ import annotations

from typing import Any

from django import forms
from django.template.defaultfilters import filesizeformat

MOST_UPLOADED = 8 * 2**20  # of a file of items or metadata
MOST_MEDIA = 64 * 2**20  # of all pictures and clips together
MOST_DATASET = 128 * 2**20
MOST_MODEL = 64 * 2**20
MOST_FILES = 90  # in one request; Django reads at most a hundred

INVALID_ROWS = [("refuse", "Reject the file"), ("drop", "Exclude and count them")]


class DropInput(forms.FileInput):
    """A file field that files can be dropped on; `most` is the largest size in bytes, which the page checks too."""

    template_name = "console/catalog/drop_input.html"

    def __init__(self, most: int, *, is_multiple: bool = False) -> None:
        self.allow_multiple_selected = is_multiple  # Django then writes the attribute
        super().__init__({"data-most": most})

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        """The upload, or the list of several."""
        return files.getlist(name) if self.allow_multiple_selected else files.get(name)


class SizedFileField(forms.FileField):
    """A file of at most `most` bytes; `remedy` says what to do with a larger one."""

    def __init__(self, *, most: int, remedy: str, **kwargs: Any) -> None:
        super().__init__(widget=DropInput(most), **kwargs)
        self.most, self.remedy = most, remedy

    def clean(self, data: Any, initial: Any = None) -> Any:
        """The file; None without one."""
        file = super().clean(data, initial)
        if file:
            require_size(file.size, self.most, self.remedy)
        return file


class FilesField(forms.FileField):
    """Several files of at most `most` bytes together; cleaned as a list, which may be empty.

    `remedy` says what to do with larger ones.
    """

    def __init__(self, *, most: int, remedy: str = "", **kwargs: Any) -> None:
        super().__init__(required=False, widget=DropInput(most, is_multiple=True), **kwargs)
        self.most, self.remedy = most, remedy

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Each file cleaned by itself, and all together."""
        files = data if isinstance(data, list | tuple) else [data] if data else []
        uploads = [super(FilesField, self).clean(file, initial) for file in files]
        require_size(sum(upload.size for upload in uploads), self.most, self.remedy)
        if len(uploads) > MOST_FILES:
            raise forms.ValidationError(f"{len(uploads)} files; at most {MOST_FILES} at once. Send a ZIP archive.")
        return uploads


def file_size(size: int) -> str:
    r"""A size in bytes for people, without a zero behind the point.

    Examples
    --------
    >>> file_size(128 * 2**20), file_size(1536)
    ('128\xa0MB', '1.5\xa0KB')
    """
    return filesizeformat(size).replace(".0", "")


def require_size(size: int, most: int, remedy: str) -> None:
    """Refuse what is larger than a page takes. Raises ValidationError with what to do instead."""
    if size > most:
        raise forms.ValidationError(
            f"The file has {file_size(size)}; the limit for uploads is {file_size(most)}. {remedy}"
        )
