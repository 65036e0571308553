"""Folders, archives and single files: what is opened, and what is refused."""

from __future__ import annotations

import gzip
import zipfile
from functools import partial
from pathlib import Path

import pytest

from catalog.importers.base import Limits
from catalog.importers.sources import open_source
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.unit


def archive(path: Path, members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path


def content(path: Path, name: str, limits: Limits | None = None) -> bytes:
    with open_source(path, limits).files[name].open() as (stream, _):
        return stream.read()


def test_folder_lists_its_files_by_lower_case_name(tmp_path):
    (tmp_path / "Ratings.CSV").write_bytes(b"one")
    (tmp_path / ".hidden").write_bytes(b"no")
    (tmp_path / "inner").mkdir()
    source = open_source(tmp_path)
    assert list(source.files) == ["ratings.csv"]
    assert source.files["ratings.csv"].name == "Ratings.CSV"
    assert content(tmp_path, "ratings.csv") == b"one"


def test_archive_is_read_without_its_folders_and_without_unpacking(tmp_path):
    members = {
        "ml/ratings.csv": b"one",
        "__MACOSX/ml/ratings.csv": b"no",
        "ml/.DS_Store": b"no",
        "ml/deep/": b"",
    }
    path = archive(tmp_path / "ml.ZIP", members)
    assert list(open_source(path).files) == ["ratings.csv"]
    assert content(path, "ratings.csv") == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_gzipped_file_is_unpacked_alone_and_inside_an_archive(tmp_path):
    packed = gzip.compress(b"a,b\n1,2\n")
    (tmp_path / "table.csv.gz").write_bytes(packed)
    assert content(tmp_path / "table.csv.gz", "table.csv.gz") == b"a,b\n1,2\n"
    assert content(archive(tmp_path / "a.zip", {"table.csv.gz": packed}), "table.csv.gz") == b"a,b\n1,2\n"


def flagged(path: Path, at: int, value: int) -> Path:
    """An archive with one file, two bytes of whose entry in the central directory are changed."""
    packed = bytearray(archive(path, {"ratings.csv": b"x"}).read_bytes())
    entry = packed.index(b"PK\x01\x02")
    packed[entry + at : entry + at + 2] = value.to_bytes(2, "little")
    path.write_bytes(packed)
    return path


def bytes_at(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def damaged(path: Path) -> Path:
    """An archive one byte of whose file is another."""
    packed = bytearray(archive(path, {"ratings.csv": bytes(range(256)) * 4}, zipfile.ZIP_STORED).read_bytes())
    packed[60] ^= 0xFF
    return bytes_at(path, bytes(packed))


OUTSIDE = ("../ratings.csv", "/etc/ratings.csv", "ml/../../ratings.csv", "C:/ratings.csv", "..\\ratings.csv")
PACKED = gzip.compress(bytes(range(256)) * 20, mtime=0)


def test_sources_that_are_not_opened(tmp_path):
    rows = {"ratings.csv": b"1,2,3\n" * 100}
    # How long deflated bytes are depends on the library that deflates them.
    big = archive(tmp_path / "big.zip", rows, zipfile.ZIP_STORED)
    bombed = archive(tmp_path / "bomb.zip", {"ratings.csv": bytes(20 * 2**20)}, zipfile.ZIP_BZIP2)
    cut = bytes_at(tmp_path / "cut.zip", big.read_bytes()[:-30])
    bomb = bytes_at(tmp_path / "bomb.csv.gz", gzip.compress(bytes(4 * 2**20)))
    assert len(content(bomb, "bomb.csv.gz")) == 4 * 2**20
    cases = {
        **{
            f"names {name}": partial(open_source, archive(tmp_path / f"{at}.zip", {name: b"x"}))
            for at, name in enumerate(OUTSIDE)
        },
        "a name twice": partial(
            open_source, archive(tmp_path / "two.zip", {"a/ratings.csv": b"x", "b/ratings.csv": b"y"})
        ),
        "an archive's bomb": partial(open_source, bombed),
        "above the limit": partial(open_source, big, Limits(bytes_unpacked=500)),
        "too many files": partial(
            open_source, archive(tmp_path / "many.zip", {f"{at}.csv": b"x" for at in range(4)}), Limits(members=3)
        ),
        "a gzipped bomb": partial(content, bomb, "bomb.csv.gz", Limits(bytes_unsuspicious=2**20)),
        **{
            f"gzip cut at {at}": partial(content, bytes_at(tmp_path / f"{at}.gz", PACKED[:at]), f"{at}.gz")
            for at in (12, 200, -3)
        },
        "archive cut short": partial(open_source, cut),
        "damaged content": partial(content, damaged(tmp_path / "damaged.zip"), "ratings.csv"),
        "encrypted": partial(open_source, flagged(tmp_path / "secret.zip", 8, 1)),
        "unknown compression": partial(content, flagged(tmp_path / "odd.zip", 10, 97), "ratings.csv"),
        "nothing there": partial(open_source, tmp_path / "nowhere"),
    }
    assert_refused_as_approved("sources", cases, tmp_path)
