"""The schema of the REST API, its documentation page, and the response for unknown addresses."""

from __future__ import annotations

from typing import Any, NoReturn

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.views import APIView


class SchemaView(SpectacularAPIView):
    """The REST API as an OpenAPI document, YAML or JSON."""


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the REST API, with a form to try it."""
    return render(request, "console/api.html")


class NothingHere(APIView):
    """Any other address: the same response as for rows without access."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        """Respond with 404 to every method, after authentication."""
        super().initial(request, *args, **kwargs)
        raise Http404
