"""The interface's own description, the page that shows it, and what stands at every other address."""

from __future__ import annotations

from typing import Any, NoReturn

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.views import APIView


class SchemaView(SpectacularAPIView):
    """The interface as an OpenAPI document, YAML or JSON."""


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the interface to people, with a way to try it."""
    return render(request, "console/api.html")


class NothingHere(APIView):
    """Any other address: the same refusal as for what may not be seen."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse, whatever the method; who asks without an account is asked for one first."""
        super().initial(request, *args, **kwargs)
        raise Http404
