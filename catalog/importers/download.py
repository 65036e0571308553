"""Public data sets fetched whole: resumed where a connection ended, checked against their sums, then renamed."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from core.errors import DataError, ParameterError

GROUPLENS = "https://files.grouplens.org/datasets/movielens/"
LICENCE = (
    "MovieLens is GroupLens' (University of Minnesota): for research; no commercial use without their permission; "
    "pass it on under the same conditions only, and cite Harper and Konstan (2015), doi:10.1145/2827872. The README "
    "in the archive holds the terms."
)
SETS: Mapping[str, str] = {
    "ml-latest-small": "100,000 ratings, for trying things out",
    "ml-100k": "100,000 ratings of 1998",
    "ml-1m": "1 million ratings of 2003",
    "ml-10m": "10 million ratings of 2009",
    "ml-20m": "20 million ratings of 2016",
    "ml-25m": "25 million ratings of 2019",
    "ml-32m": "32 million ratings of 2024",
}
MOST_BYTES = 4 * 2**30
_SUM = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b", re.IGNORECASE)
_LONGEST_SUM_FILE = 4096
_MOST_REDIRECTS = 5
_SECONDS = 30.0  # without a byte
_BLOCK = 1 << 18
_OK, _PART, _GONE, _BEYOND = 200, 206, 404, 416

# Called now and then with the bytes there so far, and how many they will be where that is known.
Progress = Callable[[int, int | None], None]


class DownloadFailed(DataError):
    """A file that could not be fetched whole; under its name there is nothing new."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file that is there and whole."""

    path: Path
    n_bytes: int
    checksum: str  # hexadecimal; MD5 where it has 32 digits, SHA-256 where 64
    was_there: bool  # whether nothing had to be fetched


def address_of(name: str) -> str:
    """Where a set is published. Raises ParameterError when no set of that name is known.

    Examples
    --------
    >>> address_of("ml-1m")
    'https://files.grouplens.org/datasets/movielens/ml-1m.zip'
    """
    if name not in SETS:
        raise ParameterError(f"There is no set {name!r} to download: there are {', '.join(SETS)}.")
    return f"{GROUPLENS}{name}.zip"


def download(
    url: str,
    folder: Path,
    *,
    checksum: str | None = None,
    most_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
) -> Downloaded:
    """Fetch one file into a folder.

    An incomplete download is stored as ``NAME.part``, and the next call resumes it if the server's file has not
    changed. Only a file whose size and checksum match gets its final name. Redirections to another host, and files
    larger than `most_bytes`, are refused. The folder is made where it is missing. The checksum is MD5 or SHA-256 in
    hexadecimal, by default read from ``URL.md5``. Raises ParameterError for an address or a sum that is none. Raises
    DownloadFailed for no network, no such file, a redirection elsewhere, another size or sum, no room.
    """
    name = Path(urlsplit(url).path).name
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname or not name:
        raise ParameterError(f"{url!r} is not the address of a file, as in {GROUPLENS}ml-1m.zip.")
    if checksum is not None and not _SUM.fullmatch(checksum):
        raise ParameterError(f"{checksum!r} is neither an MD5 (32 hexadecimal digits) nor a SHA-256 (64).")
    target = folder / name
    part, tag = folder / f"{name}.part", folder / f"{name}.part.etag"
    with _reported(url, target), httpx.Client(timeout=_SECONDS, follow_redirects=False) as client:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = (checksum or _published_sum(client, f"{url}.md5")).lower()
        if target.exists():
            # The content decides: a name says nothing of whether the file was complete, or is of this edition.
            if _sum_of(target, wanted) == wanted:
                return Downloaded(target, target.stat().st_size, wanted, was_there=True)
            raise DownloadFailed(
                f"{target} is there already, and its sum is not the published one ({wanted}). Move it away or delete "
                "it, then download again."
            )
        _fetch(client, url, part, tag, most_bytes=most_bytes, progress=progress)
        actual = _sum_of(part, wanted)
        if actual != wanted:
            # Not resumed again: which of its bytes are wrong cannot be known.
            part.unlink()
            tag.unlink(missing_ok=True)
            raise DownloadFailed(
                f"What arrived from {url} has the sum {actual} where {wanted} belongs, so it was thrown away. "
                "Download again; if it happens twice, the server's file is damaged."
            )
        part.replace(target)
        tag.unlink(missing_ok=True)
        return Downloaded(target, target.stat().st_size, wanted, was_there=False)


@contextmanager
def _reported(url: str, target: Path) -> Iterator[None]:
    """Faults of the network and of the disk as one sentence each."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise DownloadFailed(f"{url} has not answered for {_SECONDS:.0f} seconds. Try again later.") from error
    except httpx.ConnectError as error:
        raise DownloadFailed(
            f"{urlsplit(url).netloc} cannot be reached ({error}). Is there a connection to the network? A file "
            "fetched elsewhere can be imported from its folder."
        ) from error
    except httpx.HTTPError as error:
        raise DownloadFailed(
            f"The connection ended before {url} was whole ({error}). Start it again: it resumes from there."
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DownloadFailed(
                f"There is no room for {target} on this disk ({error.strerror}). Make room, or choose another folder, "
                "and start it again."
            ) from error
        raise DownloadFailed(f"{target} cannot be written ({error.strerror}). Choose another folder.") from error


@contextmanager
def _answer(client: Any, url: str, headers: Mapping[str, str] | None = None) -> Iterator[Any]:
    """The answer to a request, behind redirections that stay at their host."""
    here = url
    for _ in range(_MOST_REDIRECTS + 1):
        # Bytes as they are: a packed transfer would have another length, and nothing to go on from.
        with client.stream("GET", here, headers={"Accept-Encoding": "identity", **(headers or {})}) as response:
            if not response.has_redirect_location:
                yield response
                return
            there = urljoin(here, response.headers["Location"])
        before, after = urlsplit(here), urlsplit(there)
        is_downgraded = before.scheme == "https" and after.scheme != "https"
        # A redirection decides where this machine connects to; another host may be inside its own network.
        if after.hostname != before.hostname or after.scheme not in ("http", "https") or is_downgraded:
            raise DownloadFailed(
                f"{here} leads to {there}, at another host or without encryption, which is not followed. If that is "
                "where the file is now, give that address."
            )
        here = there
    raise DownloadFailed(f"{url} leads in a circle: more than {_MOST_REDIRECTS} redirections.")


def _published_sum(client: Any, url: str) -> str:
    with _answer(client, url) as response:
        if response.status_code == _GONE:
            raise DownloadFailed(
                f"There is no sum at {url} to check the file by. Give it (--checksum), or another address."
            )
        _refuse_status(response, url)
        text = b""
        for block in response.iter_bytes(_LONGEST_SUM_FILE):
            text += block
            if len(text) > _LONGEST_SUM_FILE:
                break
    match = _SUM.search(text[:_LONGEST_SUM_FILE].decode("latin-1"))
    if match is None:
        raise DownloadFailed(f"{url} holds no sum to check the file by. Give it (--checksum).")
    return match[0]


def _fetch(client: Any, url: str, part: Path, tag: Path, *, most_bytes: int, progress: Progress | None) -> None:
    """Download the file into the part; resume from its end if the server's file has not changed."""
    # Without the tag the server cannot say whether the rest belongs to the same file.
    before = part.stat().st_size if part.exists() and tag.exists() else 0
    headers = {"Range": f"bytes={before}-", "If-Range": tag.read_text()} if before else None
    with _answer(client, url, headers) as response:
        if response.status_code == _BEYOND and before:
            begins_again = True
        else:
            begins_again = False
            _refuse_status(response, url)
            _save(response, url, part, tag, before=before, most_bytes=most_bytes, progress=progress)
    if begins_again:
        part.unlink()
        tag.unlink()
        _fetch(client, url, part, tag, most_bytes=most_bytes, progress=progress)


def _save(
    response: Any, url: str, part: Path, tag: Path, *, before: int, most_bytes: int, progress: Progress | None
) -> None:
    if response.status_code == _PART and not response.headers.get("Content-Range", "").startswith(f"bytes {before}-"):
        raise DownloadFailed(f"{url} was answered with another part than was asked for. Delete {part} and try again.")
    if response.status_code != _PART:
        before = 0
    announced = response.headers.get("Content-Length", "")
    total = before + int(announced) if announced.isdecimal() else None
    if total is not None and total > most_bytes:
        raise DownloadFailed(f"{url} has {total:,} bytes; at most {most_bytes:,} are fetched.")
    if total is not None and total - before > shutil.disk_usage(part.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):  # a weak one does not promise the same bytes
        tag.write_text(etag)
    else:
        tag.unlink(missing_ok=True)
    there = before
    with part.open("ab" if before else "wb") as stream:
        for block in response.iter_raw():  # as it arrives: what is held back would be lost where the connection ends
            there += len(block)
            # Counted as well as announced: the length may be missing or wrong.
            if there > most_bytes:
                raise DownloadFailed(f"{url} has more than {most_bytes:,} bytes; no more are fetched.")
            stream.write(block)
            if progress is not None:
                progress(there, total)
        stream.flush()
        # Before the rename that declares the file complete.
        os.fsync(stream.fileno())


def _refuse_status(response: Any, url: str) -> None:
    if response.status_code in (_OK, _PART):
        return
    if response.status_code == _GONE:
        raise DownloadFailed(f"There is no file at {url} (404). Look up its address and give it (--url).")
    raise DownloadFailed(f"{url} was answered with {response.status_code} {response.reason_phrase}. Try again later.")


def _sum_of(path: Path, wanted: str) -> str:
    """The file's sum of the same kind as the one wanted."""
    whole = hashlib.sha256() if len(wanted) == 64 else hashlib.md5(usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            whole.update(block)
    return whole.hexdigest()
