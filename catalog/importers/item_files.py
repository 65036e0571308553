"""Files of items in a folder or archive, such as pictures; their type is detected from their bytes."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Self

from catalog.importers.base import ImportRefused, Limits
from catalog.importers.sources import Source, open_source

LIMITS = Limits(bytes_unpacked=4 * 2**30)


@dataclass(frozen=True, slots=True)
class ItemFile:
    """A file and its type."""

    content: bytes
    folder: str  # where files of its sort are stored
    kind: str  # the ending of its stored name
    digest: str  # SHA-256 of the content, in hex

    @property
    def stored_name(self) -> str:
        """The name it is stored under."""
        return f"{self.folder}/{self.digest[:2]}/{self.digest}.{self.kind}"


class ItemFiles(ABC):
    """The files of one sort that items may name. Without a source there are none."""

    noun: ClassVar[str]
    folder: ClassVar[str]
    most_bytes: ClassVar[int]

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._problems: dict[str, str] = {}  # of the names asked for, empty where there is none

    @classmethod
    def of(cls, path: Path | None, limits: Limits = LIMITS) -> Self:
        """Those of a folder, an archive, or one file; raises `ImportRefused` as `open_source` does."""
        return cls() if path is None else cls(open_source(path, limits))

    @abstractmethod
    def kind_of(self, content: bytes) -> str:
        """The type of the content. Raises ValueError when it is of no known type; in words that follow its name."""

    def __contains__(self, name: str) -> bool:
        return self._source is not None and _bare(name) in self._source.files

    def problem(self, name: str) -> str:
        """The problem of the file, as text that follows its name; empty if there is none."""
        bare = _bare(name)
        if bare not in self._problems:
            try:
                self.read(name)
            except ImportRefused as refusal:
                self._problems[bare] = refusal.problems[0].reason
            except ValueError as wrong:
                self._problems[bare] = str(wrong)
            else:
                self._problems[bare] = ""
        return self._problems[bare]

    def read(self, name: str) -> ItemFile:
        """The file of this name. Raises ValueError when it is unusable; in words that follow its name. Raises
        ImportRefused when it is damaged.
        """
        if self._source is None or name not in self:
            raise ValueError(f"is not among the {self.noun}s of {self._source.name if self._source else 'no folder'}")
        with self._source.files[_bare(name)].open() as (stream, _):
            content = stream.read(self.most_bytes + 1)
        if len(content) > self.most_bytes:
            raise ValueError(f"has more than {self.most_bytes:,} bytes, the most that a {self.noun} may have")
        return self.file_of(content)

    def file_of(self, content: bytes) -> ItemFile:
        """The content as a file of this sort. Raises ValueError as `kind_of` does."""
        return ItemFile(content, self.folder, self.kind_of(content), hashlib.sha256(content).hexdigest())


def _bare(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name.lower()
