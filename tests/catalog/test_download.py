"""Downloads, against a server of the test's own."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog.importers import download as module
from catalog.importers.download import DownloadFailed, address_of, download
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.integration

CONTENT = bytes(range(256)) * 4096
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """One archive under many names, each with a fault of its own."""

    asked: list[tuple[str, str | None]]

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def answer(self, status: int, body: bytes = b"", *, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append((self.path, wanted))  # type: ignore[attr-defined]
        port = self.server.server_address[1]
        match self.path:
            case "/wrong.zip.md5":
                self.answer(200, b"0" * 32 + b"  wrong.zip\n")
            case "/nosum.zip.md5":
                self.answer(200, b"<html>sorry</html>" * 1000)
            case "/unsummed.zip.md5" | "/gone.zip":
                self.answer(404)
            case path if path.endswith(".md5"):
                self.answer(200, f"MD5 (set.zip) = {MD5}\n".encode())
            case "/set.zip" | "/wrong.zip" | "/changed.zip":
                tag = '"two"' if self.path == "/changed.zip" else '"one"'
                if wanted and self.headers.get("If-Range") == tag:
                    start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                    if start >= len(CONTENT):
                        self.answer(416)
                        return
                    part = CONTENT[start:]
                    self.answer(206, part, ETag=tag, Content_Range=f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
                else:
                    self.answer(200, CONTENT, ETag=tag)
            case "/other-part.zip":
                self.answer(206, CONTENT[5:], Content_Range=f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}")
            case "/cut.zip":
                self.answer(200, CONTENT[:1000], length=len(CONTENT), ETag='"one"')
            case "/endless.zip":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(CONTENT)
            case "/silent.zip":
                time.sleep(1)
            case "/weak.zip":
                self.answer(200, CONTENT, ETag='W/"one"')
            case "/moved.zip":
                self.answer(302, Location="/set.zip")
            case "/elsewhere.zip":
                self.answer(302, Location=f"http://localhost:{port}/set.zip")
            case "/circle.zip":
                self.answer(302, Location="/circle.zip")
            case _:
                self.answer(503)


class Server(ThreadingHTTPServer):
    """Says nothing of clients that hang up, as some here are to."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Any]:
    """A server at 127.0.0.1, with the requests it was asked."""
    found = Server(("127.0.0.1", 0), Handler)
    found.daemon_threads = True
    found.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    found.address = f"http://127.0.0.1:{found.server_address[1]}"  # type: ignore[attr-defined]
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def test_a_file_arrives_whole_and_is_not_fetched_again(server: Any, tmp_path: Path) -> None:
    said: list[tuple[int, int | None]] = []
    folder = tmp_path / "new" / "folder"
    found = download(f"{server.address}/set.zip", folder, progress=lambda *now: said.append(now))
    assert (found.path, found.n_bytes, found.checksum, found.was_there) == (
        folder / "set.zip", len(CONTENT), MD5, False,
    )  # fmt: skip
    assert found.path.read_bytes() == CONTENT
    assert [file.name for file in folder.iterdir()] == ["set.zip"]
    assert said[-1] == (len(CONTENT), len(CONTENT))
    assert download(f"{server.address}/set.zip", folder).was_there
    assert [path for path, _ in server.asked] == ["/set.zip.md5", "/set.zip", "/set.zip.md5"]


def test_a_sum_can_be_given(server: Any, tmp_path: Path) -> None:
    sha = hashlib.sha256(CONTENT).hexdigest()
    assert (
        download(f"{server.address}/unsummed.zip".replace("unsummed", "set"), tmp_path, checksum=sha.upper()).checksum
        == sha
    )
    assert [path for path, _ in server.asked] == ["/set.zip"]


def test_a_download_goes_on_where_it_ended(server: Any, tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match="resumes from there"):
        download(f"{server.address}/cut.zip", tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["cut.zip.part", "cut.zip.part.etag"]
    for file in list(tmp_path.iterdir()):
        file.rename(tmp_path / file.name.replace("cut", "set"))
    assert download(f"{server.address}/set.zip", tmp_path).path.read_bytes() == CONTENT
    assert server.asked[-1] == ("/set.zip", "bytes=1000-")


@pytest.mark.parametrize("name", ["set.zip", "changed.zip", "weak.zip"])
def test_a_part_of_another_file_is_begun_anew(server: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.part").write_bytes(b"x" * len(CONTENT))  # as long as it can be: beyond the range
    (tmp_path / f"{name}.part.etag").write_text('"one"')
    assert download(f"{server.address}/{name}", tmp_path).path.read_bytes() == CONTENT
    assert [file.name for file in tmp_path.iterdir()] == [name]


FAILING = (
    "wrong.zip",
    "nosum.zip",
    "unsummed.zip",
    "gone.zip",
    "broken.zip",
    "elsewhere.zip",
    "circle.zip",
    "other-part.zip",
)


def test_what_goes_wrong_is_said_and_leaves_nothing(server: Any, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.mkdir()
    cases = {name: partial(download, f"{server.address}/{name}", tmp_path) for name in FAILING}
    cases |= {
        "larger than allowed": partial(download, f"{server.address}/set.zip", large, most_bytes=1000),
        "endless": partial(download, f"{server.address}/endless.zip", large, most_bytes=1000),
        "nobody answers": partial(download, "http://127.0.0.1:9/set.zip", tmp_path),
        "no protocol of the web": partial(download, "ftp://host/a.zip", tmp_path),
        "no file": partial(download, "http://host/", tmp_path),
        "a file of the machine": partial(download, "file:///etc/passwd", tmp_path),
        "no host": partial(download, "http:///a.zip", tmp_path),
        "no checksum": partial(download, "http://host/a.zip", tmp_path, checksum="12"),
        "an unknown set": partial(address_of, "ml-2m"),
    }
    masked = {re.escape(server.address): "SERVER", r"localhost:\d+": "OTHER", re.escape(f"{tmp_path}"): "FOLDER"}
    assert_refused_as_approved("downloads", cases, masked)
    assert list(tmp_path.iterdir()) == [large]


def test_a_redirection_at_the_same_host_is_followed(server: Any, tmp_path: Path) -> None:
    assert download(f"{server.address}/moved.zip", tmp_path).path.name == "moved.zip"


def test_a_server_that_falls_silent_is_given_up(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.2)
    with pytest.raises(DownloadFailed, match="not answered"):
        download(f"{server.address}/silent.zip", tmp_path)


def test_another_file_of_the_name_is_left_alone(server: Any, tmp_path: Path) -> None:
    (tmp_path / "set.zip").write_bytes(b"mine")
    with pytest.raises(DownloadFailed, match="Move it away"):
        download(f"{server.address}/set.zip", tmp_path)
    assert (tmp_path / "set.zip").read_bytes() == b"mine"


def test_a_full_disk_is_said(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10}))
    with pytest.raises(DownloadFailed, match="no room"):
        download(f"{server.address}/set.zip", tmp_path)


def test_a_folder_that_is_none_is_said(server: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadFailed, match="cannot be written"):
        download(f"{server.address}/set.zip", tmp_path / "file")


def test_the_command_says_where_it_is_and_under_which_terms(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("download_dataset", "ml-1m", "--url", f"{server.address}/set.zip", "--dir", str(tmp_path))
    printed = capsys.readouterr().out
    assert str(tmp_path / "set.zip") in printed
    assert f"MD5 {MD5} matches" in printed
    assert "no commercial use" in printed
    assert "import_dataset" in printed
    assert address_of("ml-1m").endswith("/ml-1m.zip")
    with pytest.raises(CommandError, match="no file at"):
        call_command("download_dataset", "ml-1m", "--url", f"{server.address}/gone.zip", "--dir", str(tmp_path))
