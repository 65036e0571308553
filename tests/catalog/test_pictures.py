"""Pictures of items: which files are taken, and what pages show."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from catalog.importers.item_files import MEDIA_TYPES, PICTURES, ItemFiles, size_of
from catalog.models import DatasetVersion
from catalog.selectors.datasets import newest_version
from catalog.services import add_metadata
from core.errors import ArtefactError, ParallaxError
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.jobs import done


def png(width: int = 2, height: int = 3) -> bytes:
    """A whole picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"".join(b"\0" + b"\x30\x60\x90" * width for _ in range(height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


JPEG = b"\xff\xd8\xff\xe0\x00\x04JF" + b"\xff\xc0\x00\x0b\x08\x00\x07\x00\x05\x01\x01\x11\x00" + b"\xff\xd9"


def riff(kind: bytes, rest: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + rest


@pytest.mark.unit
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (png(4, 6), ("png", 4, 6)),
        (JPEG, ("jpg", 5, 7)),
        (b"GIF87a" + struct.pack("<HH", 9, 8), ("gif", 9, 8)),
        (riff(b"VP8 ", bytes(6) + struct.pack("<HH", 12, 0x4000 | 11)), ("webp", 12, 11)),
        (riff(b"VP8L", b"\x2f" + struct.pack("<I", 6 | 4 << 14)), ("webp", 7, 5)),
        (riff(b"VP8X", bytes(4) + bytes([1, 0, 0, 2, 0, 0])), ("webp", 2, 3)),
        (riff(b"VP8X", bytes(4)), None),
        (riff(b"ANIM", bytes(20)), None),
        (b"<svg onload='alert(1)'/>", None),
        (b"\xff\xd8\xff", None),
        (b"\xff\xd8\xff\xe0\x00\x01", None),
        (JPEG[:4], None),
        (JPEG[:12], None),
        (png()[:18], None),
        (b"", None),
    ],
)
def test_pictures_are_what_their_bytes_say(content: bytes, expected: tuple[str, int, int] | None) -> None:
    assert size_of(content) == expected


@pytest.mark.unit
@given(st.sampled_from([png(), JPEG, b"GIF89a", riff(b"VP8L", b"\x2f")]), st.integers(0, 60), st.binary(max_size=40))
def test_no_bytes_are_an_accident(start: bytes, cut: int, rest: bytes) -> None:
    found = size_of(start[:cut] + rest)
    assert found is None or found[0] in MEDIA_TYPES


def everything(base: DatasetVersion) -> tuple[int, list[str]]:
    root = Path(storages["artefacts"].path(""))
    return base.dataset.versions.count(), sorted(str(file) for file in root.rglob("*") if file.is_file())


def folder_of(tmp_path: Path, **files: bytes) -> Path:
    folder = tmp_path / "covers"
    folder.mkdir()
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    return folder


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_picture_takes_the_place_of_the_drawn_poster(client: Client, tmp_path: Path, is_packed: bool) -> None:
    base = make_version()
    folder = folder_of(tmp_path, one_png=png(), two_jpg=JPEG, unused_png=png(1, 1))
    if is_packed:
        with zipfile.ZipFile(tmp_path / "covers.zip", "w") as archive:
            for file in folder.iterdir():
                archive.write(file, f"covers/{file.name}")
    (tmp_path / "facts.csv").write_text(
        "item,image,trailer\n1,covers/One.PNG,https://example.org/t\n2,two.jpg,\n3,https://example.org/3.png,\n4,one.png,\n"
    )
    call_command(
        "add_metadata",
        base.dataset.name,
        str(tmp_path / "facts.csv"),
        media=tmp_path / "covers.zip" if is_packed else folder,
    )
    version = newest_version(base.dataset.name)
    first, second, third, fourth, fifth = version.items.order_by("index")[:5]
    assert first.image == fourth.image != second.image
    assert (third.image, third.image_url) == ("", "https://example.org/3.png")
    assert version.report["metadata"][-1]["facts_added"] == {"picture": 3, "image": 1}
    assert version.report["metadata"][-1]["fields_replaced"] == {"trailer": 1}
    answer = client.get(first.poster_url)
    assert (answer["Content-Type"], answer.content) == ("image/png", png())
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert client.get(first.poster_url, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert client.get(second.poster_url)["Content-Type"] == "image/jpeg"
    for drawn in (third, fifth):
        assert client.get(drawn.poster_url)["Content-Type"] == "image/svg+xml"
    assert base.items.get(index=first.index).poster_url.split("?v=")[1] != first.poster_url.split("?v=")[1]
    with pytest.raises(ParallaxError, match="says already"):
        add_metadata(version=version, path=tmp_path / "facts.csv", media=folder)
    storages["artefacts"].delete(second.image)
    with pytest.raises(ArtefactError, match=r"is missing\. Restore it"):
        client.get(second.poster_url)


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "bad.png",
            "facts.csv, line 3, column image: the picture 'bad.png' is no whole JPEG, PNG, GIF or WebP picture.",
        ),
        (
            "none.png",
            "facts.csv, line 3, column image: the image 'none.png' is neither a web address nor a file of the",
        ),
        ("large.png", "facts.csv, line 3, column image: the picture 'large.png' has more than 4,194,304 bytes,"),
        ("bomb.png", "facts.csv, line 3, column image: the picture 'bomb.png' has 60,000 × 60,000 points;"),
        (
            "broken.png.gz",
            "facts.csv, line 3, column image: the picture 'broken.png.gz' the compressed file is damaged",
        ),
        (
            "javascript:alert(1)",
            "facts.csv, line 3, column image: the image 'javascript:alert(1)' is not a web address",
        ),
    ],
)
def test_what_is_no_picture_is_refused_by_line_and_leaves_nothing(tmp_path: Path, said: str, message: str) -> None:
    base = make_version()
    bomb = png()[:16] + struct.pack(">II", 60_000, 60_000) + png()[24:]
    folder = folder_of(tmp_path, one_png=png(), bad_png=b"<svg/>", large_png=png() + bytes(2**22), bomb_png=bomb)
    (folder / "broken.png.gz").write_bytes(b"\x1f\x8b\x08")
    (tmp_path / "facts.csv").write_text(f"item,image\n1,one.png\n2,{said}\n2,{said}\n")
    before = everything(base)
    with pytest.raises(ParallaxError) as caught:
        add_metadata(version=base, path=tmp_path / "facts.csv", media=folder)
    assert caught.value.code == "import.refused"
    assert str(caught.value).startswith(message)
    assert everything(base) == before


@pytest.mark.unit
def test_a_name_that_is_not_there_is_no_picture() -> None:
    with pytest.raises(ValueError, match="among the pictures"):
        ItemFiles(PICTURES).read("one.png")


@pytest.mark.integration
@pytest.mark.django_db
def test_the_page_takes_an_archive_beside_the_facts(client: Client, tmp_path: Path) -> None:
    base = make_version()
    client.force_login(UserFactory(is_staff=True))
    with zipfile.ZipFile(tmp_path / "covers.zip", "w") as archive:
        archive.writestr("one.png", png())
    answer = client.post(
        f"/catalog/{base.dataset.name}/1/metadata/",
        {
            "file": SimpleUploadedFile("facts.csv", b"item,image\n1,one.png\n"),
            "item_files": SimpleUploadedFile("covers.zip", (tmp_path / "covers.zip").read_bytes()),
            "on_bad_row": "refuse",
        },
    )
    assert "for 1 items" in done(client, answer).text
    assert newest_version(base.dataset.name).items.exclude(image="").count() == 1


@pytest.mark.integration
@pytest.mark.django_db
def test_pictures_named_after_items_need_no_metadata(client: Client) -> None:
    base = make_version()
    client.force_login(UserFactory(is_staff=True))
    address = f"/catalog/{base.dataset.name}/1/metadata/"
    pictures = [SimpleUploadedFile(f"{number}.png", png()) for number in (1, 2)]
    page = done(client, client.post(address, {"item_files": pictures, "on_bad_row": "refuse"}))
    assert "for 2 items" in page.text
    assert newest_version(base.dataset.name).items.exclude(image="").count() == 2
    pictures = [SimpleUploadedFile(name, png()) for name in ("3.png", "nobody.png")]
    page = done(client, client.post(address, {"item_files": pictures, "on_bad_row": "refuse"}))
    assert "for 1 items" in page.text
    assert "Excluded: unknown item" in page.text


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "Choose a metadata file, or pictures or clips below."),
        ({"item_files": [("1.png", b"GIF")]}, "1.png is no whole JPEG, PNG, GIF or WebP picture."),
        ({"item_files": [("a.zip", b"PK"), ("1.png", b"x")]}, "a.zip is an archive: send it alone"),
        ({"item_files": [(f"{number}.mp3", b"x") for number in range(4)]}, "4 files; at most 3 at once."),
    ],
)
def test_files_that_are_no_pictures_are_refused_beside_their_field(
    client: Client, monkeypatch: pytest.MonkeyPatch, files: dict[str, list[tuple[str, bytes]]], said: str
) -> None:
    monkeypatch.setattr("catalog.forms.upload_limits.MOST_FILES", 3)
    base = make_version()
    client.force_login(UserFactory(is_staff=True))
    sent = {name: [SimpleUploadedFile(*file) for file in group] for name, group in files.items()}
    answer = client.post(f"/catalog/{base.dataset.name}/1/metadata/", {**sent, "on_bad_row": "refuse"})
    assert answer.status_code == 400
    assert said in answer.text
    assert base.dataset.versions.count() == 1
