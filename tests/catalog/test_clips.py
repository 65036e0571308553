"""Clips and excerpts of items: which files are taken, and how they are served."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from catalog.clip_types import CLIP_TYPES
from catalog.demo.works import CLIPS_FOLDER, demo_films
from catalog.importers.base import ParsedItem
from catalog.importers.item_files import CLIPS, clip_kind
from catalog.models import DatasetVersion, Item
from catalog.selectors.datasets import newest_version
from catalog.selectors.items import has_samples
from catalog.services import add_metadata
from catalog.services.versions import _item_facts
from core.errors import ParallaxError
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_items, make_version
from tests.factories.jobs import done

WEBM = (CLIPS_FOLDER / "drama.webm").read_bytes()
WAV = b"RIFF" + bytes(4) + b"WAVEfmt " + bytes(200)
MP3_FRAME = b"\xff\xfb\x90\x64" + bytes(100)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (WEBM, "webm"),
        (b"\x1a\x45\xdf\xa3\x01\x42\x82\x88matroska" + bytes(50), None),
        (bytes(4) + b"ftypisom" + bytes(50), "mp4"),
        (bytes(4) + b"ftypM4A " + bytes(50), "m4a"),
        (bytes(4) + b"ftypqt  " + bytes(50), None),
        (bytes(4) + b"ftypavif" + bytes(50), None),
        (b"OggS" + bytes(24) + b"\x01vorbis" + bytes(50), "ogg"),
        (b"OggS" + bytes(24) + b"OpusHead" + bytes(50), "ogg"),
        (b"OggS" + bytes(24) + b"\x80theora" + bytes(50), None),
        (WAV, "wav"),
        (b"RIFF" + bytes(4) + b"WEBP" + bytes(50), None),
        (b"fLaC" + bytes(50), "flac"),
        (b"ID3\x04" + bytes(50), "mp3"),
        (MP3_FRAME, "mp3"),
        (b"\xff\xf1\x50\x80" + bytes(50), None),  # AAC without a container
        (b"\xff\xfb\xf0\x64", None),
        (b"\xff\xd8\xff\xe0", None),
        (b"<svg onload='alert(1)'/>", None),
        (b"\xff\xfb", None),
        (b"", None),
    ],
)
def test_clips_are_what_their_bytes_say(content: bytes, expected: str | None) -> None:
    assert clip_kind(content) == expected


@pytest.mark.unit
@given(st.sampled_from([WEBM, WAV, MP3_FRAME, b"OggS", b"ID3", bytes(4) + b"ftyp"]), st.binary(max_size=60))
def test_every_kind_of_clip_has_a_type(start: bytes, rest: bytes) -> None:
    kind = clip_kind(start[:40] + rest)
    assert kind is None or kind in CLIP_TYPES


def without_samples() -> DatasetVersion:
    version = make_version()
    version.items.update(trailer_url="")
    return version


def with_clips(tmp_path: Path, *, is_packed: bool = False) -> DatasetVersion:
    """A version whose first items have a video, an excerpt, an audio file and a link."""
    base = without_samples()
    folder = tmp_path / "media"
    folder.mkdir()
    (folder / "one.webm").write_bytes(WEBM)
    (folder / "three.bin").write_bytes(MP3_FRAME)
    media = folder
    if is_packed:
        media = tmp_path / "media.zip"
        with zipfile.ZipFile(media, "w") as archive:
            for file in folder.iterdir():
                archive.write(file, f"clips/{file.name}")
    (tmp_path / "facts.csv").write_text(
        "item,video,audio,excerpt\n1,clips/One.WEBM,,\n2,,,Call me Ishmael.\n3,,three.bin,\n4,https://example.org/4,,\n"
        "5,one.webm,,\n"
    )
    call_command("add_metadata", base.dataset.name, str(tmp_path / "facts.csv"), media=media)
    return newest_version(base.dataset.name)


def stored_clips() -> list[Path]:
    return sorted(Path(storages["artefacts"].path("clips")).rglob("*.*"))


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("is_packed", [False, True])
def test_clips_and_excerpts_come_with_the_facts(tmp_path: Path, is_packed: bool) -> None:
    version = with_clips(tmp_path, is_packed=is_packed)
    first, second, third, fourth, fifth, sixth = version.items.order_by("index")[:6]
    assert first.clip == fifth.clip
    assert first.clip.startswith("clips/")
    assert first.clip.endswith(".webm")
    assert third.clip.endswith(".mp3")
    assert (first.is_clip_audio, third.is_clip_audio) == (False, True)
    assert (second.excerpt, fourth.trailer_url) == ("Call me Ishmael.", "https://example.org/4")
    assert [item.has_sample for item in (first, second, third, fourth, fifth, sixth)] == [True] * 5 + [False]
    assert version.report["metadata"][-1]["facts_added"] == {"clip": 3, "excerpt": 1, "trailer": 1}
    assert Path(storages["artefacts"].path(first.clip)).read_bytes() == WEBM
    with pytest.raises(ParallaxError, match="says already"):
        add_metadata(version=version, path=tmp_path / "facts.csv", media=tmp_path / "media")


@pytest.mark.integration
@pytest.mark.django_db
def test_whether_a_version_has_samples(tmp_path: Path) -> None:
    base = without_samples()
    assert not has_samples(base)
    (tmp_path / "facts.csv").write_text("item,excerpt\n2,Call me Ishmael.\n")
    assert has_samples(add_metadata(version=base, path=tmp_path / "facts.csv"))


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("bad.mp4,,", "column video: the clip 'bad.mp4' is not a WebM or MP4 video or an MP3, M4A, Ogg"),
        (
            "none.mp4,,",
            "column video: the trailer 'none.mp4' is neither a web address nor a file of the folder of clips",
        ),
        (",large.wav,", "column audio: the clip 'large.wav' has more than 33,554,432 bytes, the most that a clip may"),
        ("one.webm,two.wav,", "column audio: the clip was 'one.webm' before, and is 'two.wav' here"),
        (f",,{'a' * 20_001}", "column excerpt: the excerpt has 20,001 characters; at most 20,000 are kept"),
    ],
)
def test_what_is_no_clip_is_refused_by_line_and_leaves_nothing(tmp_path: Path, row: str, message: str) -> None:
    base = without_samples()
    folder = tmp_path / "media"
    folder.mkdir()
    (folder / "one.webm").write_bytes(WEBM)
    (folder / "two.wav").write_bytes(WAV)
    (folder / "bad.mp4").write_bytes(b"<html>")
    (folder / "large.wav").write_bytes(WAV + bytes(CLIPS.most_bytes))
    (tmp_path / "facts.csv").write_text(f"item,video,audio,excerpt\n1,one.webm,,\n2,{row}\n")
    before = stored_clips()
    with pytest.raises(ParallaxError) as caught:
        add_metadata(version=base, path=tmp_path / "facts.csv", media=folder)
    assert str(caught.value).startswith(f"facts.csv, line 3, {message}")
    assert base.dataset.versions.count() == 1
    assert stored_clips() == before


@pytest.mark.integration
@pytest.mark.django_db
def test_a_clip_is_served_to_anyone_whole_and_in_parts(client: Client, tmp_path: Path) -> None:
    item = with_clips(tmp_path).items.get(index=0)
    whole = client.get(item.clip_url)
    assert whole.status_code == 200
    assert b"".join(whole) == WEBM
    assert whole["Content-Type"] == "video/webm"
    assert whole["Content-Length"] == str(len(WEBM))
    assert whole["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in whole["Cache-Control"]
    assert "media-src 'self'" in whole["Content-Security-Policy"]
    part = client.get(item.clip_url, headers={"Range": "bytes=100-299"})
    assert (part.status_code, b"".join(part)) == (206, WEBM[100:300])
    assert part["Content-Range"] == f"bytes 100-299/{len(WEBM)}"
    refused = client.get(item.clip_url, headers={"Range": "bytes=9999999-"})
    assert refused.status_code == 416
    assert "Cache-Control" not in refused
    assert client.get(item.clip_url, headers={"If-None-Match": whole["ETag"]}).status_code == 304
    head = client.head(item.clip_url, headers={"Range": "bytes=100-299"})
    assert (head.status_code, head["Content-Length"]) == (200, str(len(WEBM)))
    assert client.post(item.clip_url).status_code == 405
    assert client.get(f"/catalog/clips/{item.pk + 5}").status_code == 404  # it has none
    assert client.get("/catalog/clips/99999999").status_code == 404


@pytest.mark.integration
@pytest.mark.django_db
def test_the_console_plays_a_clip_and_takes_an_archive(client: Client, tmp_path: Path) -> None:
    base = without_samples()
    client.force_login(UserFactory(is_staff=True))
    with zipfile.ZipFile(tmp_path / "media.zip", "w") as archive:
        archive.writestr("one.webm", WEBM)
        archive.writestr("two.mp3", MP3_FRAME)
    answer = client.post(
        f"/catalog/{base.dataset.name}/1/metadata/",
        {
            "file": SimpleUploadedFile(
                "facts.csv", b"item,trailer,excerpt\n1,one.webm,\n2,two.mp3,\n3,,It was late.\n"
            ),
            "item_files": SimpleUploadedFile("media.zip", (tmp_path / "media.zip").read_bytes()),
            "on_bad_row": "refuse",
        },
    )
    done(client, answer)
    items = {item.index: item for item in newest_version(base.dataset.name).items.filter(index__lt=3)}
    pages = {index: client.get(f"/catalog/{base.dataset.name}/2/items/{index}/").text for index in items}
    assert f'src="{items[0].clip_url}"' in pages[0]
    assert "<video" in pages[0]
    assert "<audio" in pages[1]
    assert "It was late." in pages[2]


@pytest.mark.unit
def test_items_without_clips_and_excerpts_keep_their_content_hash() -> None:
    (item,) = make_items(1)
    facts = [item.external_id, item.title, item.year, item.plot, item.features, item.image_url, item.trailer_url, ()]
    assert list(_item_facts(item)) == facts
    assert _item_facts(ParsedItem("1", "A", clip="c"))[8:] == ({"clip": "c"},)
    assert _item_facts(ParsedItem("1", "A", excerpt="e"))[8:] == ({"excerpt": "e"},)


@pytest.mark.unit
def test_the_demo_has_small_clips_of_its_best_known_films() -> None:
    clips = [film.clip for film in demo_films().works if film.clip]
    assert {film.renown for film in demo_films().works if film.clip} == {5}
    assert set(clips) == set(CLIPS_FOLDER.glob("*.webm"))
    assert sum(clip.stat().st_size for clip in set(clips)) < 300_000
    assert {clip_kind(clip.read_bytes()) for clip in set(clips)} == {"webm"}


@pytest.mark.unit
def test_an_item_without_a_clip_has_no_address_of_one() -> None:
    assert (Item().clip_url, Item().is_clip_audio, Item().has_sample) == ("", False, False)
