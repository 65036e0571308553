"""The schema of the REST API, its documentation page, and the response for unknown addresses."""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import resolve
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.exceptions import NotFound
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.routers import APIRootView
from rest_framework.views import APIView

from core.api import StrictView
from parallax.api.operations import interface


@method_decorator(gzip_page, name="dispatch")  # 300 kB, and nothing in it is secret
class SchemaView(StrictView, SpectacularAPIView):
    """The REST API as an OpenAPI document, YAML or JSON; open to everyone."""

    def _get_schema_response(self, request: Request) -> HttpResponse:
        renderer: Any = type(request.accepted_renderer)
        return HttpResponse(_rendered(renderer), f"{renderer.media_type}; charset=utf-8")


class Root(StrictView, APIRootView):
    """The addresses of the lists."""


@cache
def _rendered(renderer: type[BaseRenderer]) -> str | bytes:
    """The document, which takes a second, once for each process."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    return renderer().render(generator.get_schema(request=None, public=True))  # type: ignore[no-untyped-call]


@login_not_required
@require_safe
@gzip_page  # nothing in it is secret, and the CSRF token is masked anew each time
def docs(request: HttpRequest) -> HttpResponse:
    """Show the operations and objects of the REST API to everyone, with forms that send requests."""
    groups, objects = interface()
    shell = "console/base.html" if request.user.is_authenticated else "public/base.html"
    return render(request, "console/api.html", {"groups": groups, "objects": objects, "shell": shell})


class WithoutSlash(NotFound):
    """An address that exists with a slash at its end."""

    def __init__(self, address: str) -> None:
        super().__init__("Addresses end with a slash, and this one does not.")
        self.remedy = f"Use {address}."


class NotFoundView(APIView):
    """Any other address: the same response as for rows without access."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        """Respond with 404 to every method, after authentication; never with a redirect, which turns POST into GET."""
        super().initial(request, *args, **kwargs)
        complete = f"{request.path_info}/"
        if getattr(resolve(complete).func, "cls", None) is not NotFoundView:
            raise WithoutSlash(request.get_full_path().replace(request.path, f"{request.path}/", 1))
        raise Http404
