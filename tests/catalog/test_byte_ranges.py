"""Ranges of bytes: what part of a file a request gets."""

from __future__ import annotations

import io

import pytest
from django.http import HttpResponseBase
from django.test import RequestFactory

from catalog.views.byte_ranges import byte_range, file_response

pytestmark = pytest.mark.unit

CONTENT = bytes(range(200))
ETAG = '"abc"'


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-", (0, 199)),
        ("bytes=0-1", (0, 1)),
        ("bytes=50-99", (50, 99)),
        ("bytes=50-9999", (50, 199)),
        ("bytes=-20", (180, 199)),
        ("bytes=-9999", (0, 199)),
        ("bytes=199-199", (199, 199)),
        ("", None),
        ("bytes=-", None),
        ("bytes=9-3", None),
        ("bytes=0-1,4-5", None),
        ("items=0-1", None),
        ("bytes=a-b", None),
    ],
)
def test_a_single_range_is_a_part_and_anything_else_the_whole(header: str, expected: tuple[int, int] | None) -> None:
    assert byte_range(header, 200) == expected


@pytest.mark.parametrize("header", ["bytes=200-", "bytes=200-300", "bytes=-0"])
def test_a_range_past_the_end_is_refused(header: str) -> None:
    with pytest.raises(ValueError, match="200 bytes"):
        byte_range(header, 200)


def response_to(method: str = "GET", **headers: str) -> tuple[HttpResponseBase, bytes, io.BytesIO]:
    request = RequestFactory().generic(method, "/", headers={k.replace("_", "-"): v for k, v in headers.items()})
    file = io.BytesIO(CONTENT)
    response = file_response(request, file, content_type="audio/mpeg", etag=ETAG)
    body = b"".join(response) if response.streaming else response.content  # type: ignore[attr-defined]
    for close in response._resource_closers:  # closing the whole response ends a request, and with it the connection
        close()
    return response, body, file


def test_a_file_is_sent_whole_and_says_that_it_has_parts() -> None:
    response, body, file = response_to()
    assert (response.status_code, body, file.closed) == (200, CONTENT, True)
    assert response.headers["Content-Length"] == "200"
    assert response.headers["Accept-Ranges"] == "bytes"
    assert response.headers["Content-Type"] == "audio/mpeg"
    assert "Content-Range" not in response.headers


def test_a_part_is_sent_with_its_place() -> None:
    response, body, file = response_to(Range="bytes=10-19", If_Range=ETAG)
    assert (response.status_code, body, file.closed) == (206, CONTENT[10:20], True)
    assert response.headers["Content-Range"] == "bytes 10-19/200"
    assert response.headers["Content-Length"] == "10"


def test_a_head_has_the_size_alone() -> None:
    response, body, file = response_to("HEAD", Range="bytes=10-19")
    assert (response.status_code, response.headers["Content-Length"], body, file.closed) == (200, "200", b"", True)


def test_a_part_of_another_version_is_the_whole_file() -> None:
    response, body, _file = response_to(Range="bytes=10-19", If_Range='"older"')
    assert (response.status_code, body) == (200, CONTENT)


def test_a_part_that_is_not_there_is_refused_with_the_size() -> None:
    response, body, file = response_to(Range="bytes=900-")
    assert (response.status_code, body, file.closed) == (416, b"", True)
    assert response.headers["Content-Range"] == "bytes */200"
