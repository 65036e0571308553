"""Files sent whole or in part: browsers seek in video and audio by ranges of bytes (RFC 9110, section 14)."""

from __future__ import annotations

import os
import re
from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.responders import SlicedFile

_SINGLE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte that a Range header asks for in a file of `size` bytes.

    None for what is answered with the whole file: no header, several ranges, or another unit. Raises ValueError for a
    range without a byte of the file.

    Examples
    --------
    >>> byte_range("bytes=0-99", 50), byte_range("bytes=-10", 50), byte_range("bytes=0-1,5-6", 50)
    ((0, 49), (40, 49), None)
    """
    match = _SINGLE.fullmatch(header.strip())
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if first and last and int(last) < int(first):
        return None  # not a range at all
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        raise ValueError(f"The file has {size} bytes, none of them in {header}.")
    return start, end


def file_response(request: HttpRequest, file: IO[bytes], *, content_type: str, etag: str) -> HttpResponseBase:
    """An open file as the response to a request: whole, or the single range that it asks for; the response closes it.

    A range that belongs to another version of the file than `etag` (If-Range) is answered with the whole file.
    """
    size = file.seek(0, os.SEEK_END)
    header = request.headers.get("Range", "") if request.method == "GET" else ""
    if request.headers.get("If-Range", etag) != etag:
        header = ""
    try:
        wanted = byte_range(header, size)
    except ValueError:
        file.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
    start, end = wanted or (0, size - 1)
    response: HttpResponseBase
    if request.method == "HEAD":
        file.close()
        response = HttpResponse(content_type=content_type)
    else:
        part = SlicedFile(file, start, end)
        response = FileResponse(part, status=200 if wanted is None else 206, content_type=content_type)
    response.headers["Content-Length"] = str(end - start + 1)
    response.headers["Accept-Ranges"] = "bytes"
    if wanted is not None:
        response.headers["Content-Range"] = f"bytes {start}-{end}/{size}"
    return response
