"""The files of an export of a study, read back in tests."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

from studies.data.exports.export_files import write_export
from studies.data.exports.table_files import Written, zipped_to
from studies.data.exports.tables import Options
from studies.models import Study


class Exported:
    """The files of an export, read back."""

    def __init__(self, study: Study, kind: str, **options: bool) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.files = write_export(study, kind, folder, Options(**options))
            self.content = {file.name: (folder / file.name).read_bytes() for file in self.files}
            zipped_to(self.files, folder, folder / "all.zip")
            self.archive = (folder / "all.zip").read_bytes()
            assert not list(folder.glob(".part-*"))

    def named(self, end: str) -> Written:
        return next(file for file in self.files if file.name.endswith(end))

    def text(self, end: str) -> str:
        return self.content[self.named(end).name].decode()

    def rows(self, end: str = "_data.csv") -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.text(end))))
