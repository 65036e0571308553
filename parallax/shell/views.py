"""Front page, home, search and help."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from analysis.read.reports import sample_reports
from analysis.services.samples import rankings_html
from catalog.services import DEMO_BOOKS_NAME, DEMO_NAME
from core.networks import network_of
from core.rate_limits import seconds_to_wait
from parallax.shell.attention import home_of
from parallax.shell.documentation import INDEX, documentation_files, documentation_page
from parallax.shell.help_search import search_documentation
from parallax.shell.search import query_from, search
from parallax.shell.taste import LIMIT, taste_of
from studies.enums import StudyStatus
from studies.models import Study

DEMO_STUDIES = ("demo", "demo-books", "demo-quick", "demo-books-quick")


def demo_study() -> Study | None:
    """The demo study while it is live."""
    demos = Study.objects.filter(
        slug__in=DEMO_STUDIES,
        status=StudyStatus.LIVE,
        archived_at=None,
        # A study with such an address on other data is a researcher's own.
        dataset_version__dataset__name__in=(DEMO_NAME, DEMO_BOOKS_NAME),
        dataset_version__is_synthetic=True,
    )
    return demos.select_related("dataset_version__dataset").order_by("slug").first()


def front_page() -> dict[str, Any]:
    """What a visitor can see: both rankings of the newest sample report, and the demo study with items to rate."""
    demo, sample = demo_study(), sample_reports().first()
    taste = taste_of(demo) if demo else None
    return {"demo": demo, "sample": sample, "rankings": rankings_html(sample), "taste": taste}


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The researcher's home; for visitors the front page."""
    if not request.user.is_authenticated:
        return render(request, "public/front.html", {"front": front_page()})
    return render(request, "console/home.html", {"home": home_of(request.user)})


@login_not_required
def taste_page(request: HttpRequest) -> HttpResponse:
    """The lists of two models for a visitor's ratings, in place or on the whole front page; 429 for a network that asks
    too often.
    """
    demo = demo_study()
    if request.method != "POST" or demo is None:
        return redirect("home")
    seconds = seconds_to_wait(LIMIT, "taste", network_of(request.META["REMOTE_ADDR"]))
    minutes = -(-seconds // 60)
    problem = f"Your network has asked for many lists. Please try again in {minutes} min." if seconds else ""
    taste = taste_of(demo, request.POST, problem=problem)
    if taste is None:
        return redirect("home")
    if request.htmx:  # type: ignore[attr-defined]
        response = render(request, "public/_taste.html", {"taste": taste})
    else:
        response = render(request, "public/front.html", {"front": {**front_page(), "taste": taste}})
    if seconds:
        response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        response.headers["Retry-After"] = str(seconds)
    return response


@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """Search studies, datasets, runs and participants."""
    query = query_from(request.GET.get("q", ""))
    return render(request, "console/search.html", {"query": query, "kinds": search(request.user, query)})


@login_not_required
@require_safe
def help_page(request: HttpRequest, path: str = INDEX) -> HttpResponseBase:
    """A page of the documentation or its search, a picture, or a sample report, which is saved as a file."""
    if path in (files := documentation_files()):
        return FileResponse(files[path].open("rb"), as_attachment=path.endswith(".html"))
    page = documentation_page(path)
    if page is None:
        raise Http404("There is no such page.")
    shell = "console/base.html" if request.user.is_authenticated else "public/base.html"
    query = query_from(request.GET.get("q", ""))
    context = {"documentation": page, "is_index": path == INDEX and not query, "shell": shell, "query": query}
    return render(request, "public/help.html", context | {"matches": search_documentation(query) if query else []})


@login_not_required
@require_safe
@cache_control(public=True, max_age=86400)
def favicon(request: HttpRequest) -> HttpResponse:
    """Lead browsers that ask for this address, whatever a page says, to the icon."""
    return redirect(static("icon.svg"))  # not for ever: the name changes with the icon
