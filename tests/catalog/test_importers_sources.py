"""Folders, archives and single files: what is opened, and what is refused."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from catalog.importers.base import ImportRefused, Limits
from catalog.importers.sources import open_source

pytestmark = pytest.mark.unit


def archive(path: Path, members: dict[str, bytes], **options) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as packed:
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


@pytest.mark.parametrize(
    "name",
    ["../ratings.csv", "/etc/ratings.csv", "ml/../../ratings.csv", "C:/ratings.csv", "..\\ratings.csv"],
)
def test_archive_that_names_a_file_outside_itself_is_refused(tmp_path, name):
    with pytest.raises(ImportRefused, match=r"bad\.zip: the archive names a file outside itself"):
        open_source(archive(tmp_path / "bad.zip", {name: b"x"}))


def test_archive_with_a_name_twice_is_refused(tmp_path):
    path = archive(tmp_path / "two.zip", {"a/ratings.csv": b"x", "b/ratings.csv": b"y"})
    with pytest.raises(ImportRefused, match=r"ratings\.csv twice \(a/ratings\.csv and b/ratings\.csv\)"):
        open_source(path)


def test_archive_bomb_is_refused_before_it_unfolds(tmp_path):
    path = archive(tmp_path / "bomb.zip", {"ratings.csv": bytes(20 * 2**20)})
    with pytest.raises(ImportRefused, match=r"unpack to 20,971,520, above the limit"):
        open_source(path)


def test_archive_larger_than_the_limit_is_refused(tmp_path):
    path = archive(tmp_path / "big.zip", {"ratings.csv": b"1,2,3\n" * 100})
    with pytest.raises(ImportRefused, match="above the limit"):
        open_source(path, Limits(bytes_unpacked=500))


def test_archive_with_too_many_files_is_refused(tmp_path):
    path = archive(tmp_path / "many.zip", {f"{number}.csv": b"x" for number in range(4)})
    with pytest.raises(ImportRefused, match="it holds 4 files; at most 3 are read"):
        open_source(path, Limits(members=3))


def test_gzip_bomb_is_stopped_while_it_unfolds(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(bytes(4 * 2**20)))
    limits = Limits(bytes_unsuspicious=2**20)
    with pytest.raises(ImportRefused, match=r"bomb\.csv\.gz: it unpacks to more than 1,048,576 bytes"):
        content(path, "bomb.csv.gz", limits)
    assert len(content(path, "bomb.csv.gz")) == 4 * 2**20


@pytest.mark.parametrize("cut", [12, 200, -3])
def test_gzip_that_is_cut_short_is_refused(tmp_path, cut):
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 20)[:cut])
    with pytest.raises(ImportRefused, match=r"cut\.csv\.gz: the compressed file is damaged or cut short"):
        content(path, "cut.csv.gz")


def test_archive_that_is_cut_short_is_refused(tmp_path):
    path = archive(tmp_path / "cut.zip", {"ratings.csv": b"1,2,3\n" * 100})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ImportRefused, match=r"cut\.zip: this is not a ZIP archive, or a damaged one"):
        open_source(path)


def test_archive_with_damaged_content_is_refused(tmp_path):
    path = archive(tmp_path / "damaged.zip", {"ratings.csv": bytes(range(256)) * 4})
    packed = bytearray(path.read_bytes())
    packed[60] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(ImportRefused, match=r"ratings\.csv: the compressed file is damaged"):
        content(path, "ratings.csv")


def _flag_as(path: Path, at: int, value: int) -> None:
    """Change two bytes of the central directory's entry."""
    packed = bytearray(path.read_bytes())
    entry = packed.index(b"PK\x01\x02")
    packed[entry + at : entry + at + 2] = value.to_bytes(2, "little")
    path.write_bytes(packed)


def test_encrypted_archive_is_refused(tmp_path):
    path = archive(tmp_path / "secret.zip", {"ratings.csv": b"x"})
    _flag_as(path, 8, 1)
    with pytest.raises(ImportRefused, match=r"ratings\.csv: the file is encrypted"):
        open_source(path)


def test_archive_packed_in_an_unknown_way_is_refused(tmp_path):
    path = archive(tmp_path / "odd.zip", {"ratings.csv": b"x"})
    _flag_as(path, 10, 97)
    with pytest.raises(ImportRefused, match=r"ratings\.csv: the archive cannot be read here"):
        content(path, "ratings.csv")


def test_missing_path_is_refused(tmp_path):
    with pytest.raises(ImportRefused, match="there is no such file or folder"):
        open_source(tmp_path / "nowhere")
