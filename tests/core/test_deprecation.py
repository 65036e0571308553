"""What is deprecated says so, and until when it works, in its responses and in the description."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

import pytest
from django.urls import path
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ViewSet

from core.api import StrictView

pytestmark = pytest.mark.unit
HEADERS = ("Deprecation", "Sunset", "Link")


class TitleSerializer(serializers.Serializer[Any]):
    title = serializers.CharField()


class Films(StrictView, ViewSet):
    authentication_classes: ClassVar = []
    permission_classes: ClassVar = []
    throttle_classes: ClassVar = []
    serializer_class = TitleSerializer
    deprecated: ClassVar = {"list": date(2026, 3, 1)}

    def list(self, request: Any) -> Response:
        if request.headers.get("X-Fails"):
            raise NotFound
        return Response([])

    def destroy(self, request: Any) -> Response:
        return Response(status=204)


class Songs(StrictView):
    authentication_classes = permission_classes = throttle_classes = ()
    serializer_class = TitleSerializer
    deprecated: ClassVar = {"get": date(2026, 3, 1)}

    def get(self, request: Any) -> Response:
        return Response([])


FILMS, SONGS = Films.as_view({"get": "list", "delete": "destroy"}), Songs.as_view()


@pytest.mark.parametrize(("view", "more"), [(FILMS, {}), (FILMS, {"X-Fails": "yes"}), (SONGS, {})])
def test_responses_say_since_when_and_until_when(view: Any, more: dict[str, str]) -> None:
    response = view(APIRequestFactory().get("/films/", headers=more))
    assert [response[name] for name in HEADERS] == [
        "@1772323200",  # date -u -d 2026-03-01 +%s
        "Tue, 02 Mar 2027 00:00:00 GMT",
        '</help/reference/api.md#stability-and-deprecation>; rel="deprecation"; type="text/html"',
    ]


def test_what_is_not_deprecated_says_nothing() -> None:
    response = FILMS(APIRequestFactory().delete("/films/"))
    assert not any(name in response for name in HEADERS)


def test_the_description_marks_it() -> None:
    patterns = [path("api/v1/films/", FILMS), path("api/v1/songs/", SONGS)]
    paths = SchemaGenerator(patterns=patterns).get_schema(request=None, public=True)["paths"]  # type: ignore[no-untyped-call]
    marked = {
        (address, method): operation.get("deprecated", False)
        for address, methods in paths.items()
        for method, operation in methods.items()
    }
    films, songs = "/api/v1/films/", "/api/v1/songs/"
    assert marked == {(films, "get"): True, (films, "delete"): False, (songs, "get"): True}
