from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage, storages

from core import artefacts
from core.errors import ArtefactError

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def folder(settings, tmp_path: Path) -> Iterator[Path]:  # type: ignore[no-untyped-def]
    settings.STORAGES = {
        **settings.STORAGES,
        "artefacts": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }
    artefacts.clear_cache()
    yield tmp_path
    artefacts.clear_cache()


def test_arrays_come_back_memory_mapped_and_unchanged() -> None:
    wide = np.arange(12, dtype=np.float32).reshape(3, 4)
    digest = artefacts.store("models", {"wide": wide, "names": np.array(["a", "é"]), "none": np.zeros(0)}, {"n": 3})
    found = artefacts.load("models", digest)
    assert isinstance(found.arrays["wide"], np.memmap)
    assert not found.arrays["wide"].flags.writeable
    np.testing.assert_array_equal(found.arrays["wide"], wide)
    assert found.arrays["names"].tolist() == ["a", "é"]
    assert found.arrays["none"].size == 0
    assert found.meta == {"n": 3}


def test_a_second_writer_of_the_same_digest_writes_nothing(folder: Path) -> None:
    first = artefacts.store("models", {"a": np.arange(3)}, {})
    files = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")}
    assert artefacts.store("models", {"a": np.arange(3)}, {}) == first
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")} == files


def test_a_write_that_never_finished_is_written_again(folder: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    (folder / "models" / digest / "meta.json").unlink()
    assert artefacts.store("models", {"a": np.arange(3)}, {}) == digest
    assert artefacts.load("models", digest).arrays["a"].tolist() == [0, 1, 2]


def test_changed_bytes_are_found(folder: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    np.save(folder / "models" / digest / "a.npy", np.array([0, 1, 9]))
    with pytest.raises(ArtefactError, match="matches its digest") as caught:
        artefacts.load("models", digest)
    assert caught.value.code == "artefact.damaged"


def test_storing_again_mends_what_is_damaged(folder: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    np.save(folder / "models" / digest / "a.npy", np.array([0, 1, 9]))
    artefacts.store("models", {"a": np.arange(3)}, {})
    assert artefacts.load("models", digest).arrays["a"].tolist() == [0, 1, 2]


def test_a_truncated_file_is_found(folder: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(300)}, {})
    file = folder / "models" / digest / "a.npy"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(ArtefactError, match="no longer matches"):
        artefacts.load("models", digest)


def test_a_missing_file_is_named(folder: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    (folder / "models" / digest / "a.npy").unlink()
    with pytest.raises(ArtefactError, match=r"missing a file \(a\.npy\)") as caught:
        artefacts.load("models", digest)
    assert caught.value.code == "artefact.missing"


def test_objects_are_refused() -> None:
    with pytest.raises(ArtefactError, match="holds Python objects"):
        artefacts.store("models", {"a": np.array([{}], dtype=object)}, {})


class ObjectStore(Storage):
    """A storage as an object store is one: names and bytes, no paths."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def _open(self, name: str, mode: str = "rb") -> ContentFile[bytes]:
        return ContentFile(self.objects[name])

    def _save(self, name: str, content: File[bytes]) -> str:
        self.objects[name] = content.read()
        return name

    def exists(self, name: str) -> bool:
        return name in self.objects

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        return [], [name.rpartition("/")[2] for name in self.objects if name.startswith(f"{path}/")]

    def delete(self, name: str) -> None:
        del self.objects[name]


def test_a_storage_that_is_not_a_folder_is_fetched_once(
    monkeypatch: pytest.MonkeyPatch,
    settings,  # type: ignore[no-untyped-def]
    tmp_path: Path,
) -> None:
    remote = ObjectStore()
    monkeypatch.setitem(storages._storages, "artefacts", remote)
    settings.ARTEFACT_CACHE = tmp_path / "cache"
    digest = artefacts.store("models", {"a": np.arange(4)}, {"k": "v"})
    assert artefacts.store("models", {"a": np.arange(4)}, {"k": "v"}) == digest
    assert artefacts.load("models", digest).arrays["a"].tolist() == [0, 1, 2, 3]
    artefacts.clear_cache()
    remote.delete(f"models/{digest}/a.npy")
    assert artefacts.load("models", digest).arrays["a"].tolist() == [0, 1, 2, 3]


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="the system has no such advice")
def test_arrays_that_are_let_go_hold_no_memory_and_read_the_same() -> None:
    digest = artefacts.store("models", {"values": np.arange(5_000_000)}, {})
    values = artefacts.load("models", digest).arrays["values"][1:]
    total = values.sum()
    held = psutil.Process().memory_info().rss
    artefacts.release_memory(values, np.arange(3))
    assert held - psutil.Process().memory_info().rss > 35_000_000
    assert values.sum() == total
