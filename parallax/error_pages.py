"""Pages of errors: what happened and how to continue, inside the console, the public pages or a study's pages."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from studies.participation.views.language import browser_language

CONSOLE, PUBLIC, PARTICIPANT = "console/error.html", "public/error.html", "refusal.html"
API = "/api/"
OF_PARTICIPANTS = "/s/"


@dataclass(frozen=True)
class Words:
    """What an error page says: to participants, whose way onward is the study's link, and to everyone else."""

    code: str
    heading: str | Promise
    for_participants: str | Promise
    text: str


WORDS = {
    HTTPStatus.BAD_REQUEST: Words(
        "web.bad_request",
        gettext_lazy("This request could not be read"),
        gettext_lazy("Your earlier answers are saved. Go back and try again."),
        "The address or the form is malformed. Go back and try again.",
    ),
    HTTPStatus.FORBIDDEN: Words(
        "web.forbidden",
        gettext_lazy("You have no access to this page"),
        gettext_lazy("Please use the link that brought you to the study."),
        "Your account has no permission for it. Ask an owner of the study or an administrator.",
    ),
    HTTPStatus.NOT_FOUND: Words(
        "web.not_found",
        gettext_lazy("No page at this address"),
        gettext_lazy("Please check that the link is complete, or ask the people who sent it to you."),
        "The address may be incomplete, the page may have been deleted, or you may have no access to it.",
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: Words(
        "web.error",
        gettext_lazy("Something went wrong on our side"),
        gettext_lazy("Your earlier answers are saved. Wait a minute, then load this page again."),
        "Wait a minute, then load this page again. If it happens again, tell the administrator, who finds the error in "
        "the server’s log.",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: Words(
        "web.unavailable",
        gettext_lazy("This site cannot store or read data at the moment"),
        gettext_lazy("Your earlier answers are saved. Wait a minute, then load this page again."),
        "Its database, Redis or disk is not available. Wait a minute, then load this page again. If it happens again, "
        "tell the administrator: `doctor` names the reason.",
    ),
}
SERVER_ERRORS = (HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
RETRY_SECONDS = 60


def error_page(request: HttpRequest, status: HTTPStatus, *, reason: str = "", again_url: str = "") -> HttpResponse:
    """The page of an error; JSON for programs. A server error asks nothing of the database.

    `reason` is shown instead of the usual text outside of participants' pages; `again_url` is where to continue.
    """
    response = _page(request, status, reason=reason, again_url=again_url)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _page(request: HttpRequest, status: HTTPStatus, *, reason: str, again_url: str) -> HttpResponse:
    words = WORDS[status]
    if request.path.startswith(API):
        with translation.override("en"):
            return JsonResponse({"code": words.code, "message": f"{words.heading}.", "extra": {}}, status=status)
    if request.path.startswith(OF_PARTICIPANTS):
        with translation.override(browser_language(request)):
            context = {"heading": words.heading, "text": words.for_participants}
            return HttpResponse(render_to_string(PARTICIPANT, context), status=status)
    context = {"heading": words.heading, "text": reason or words.text, "again_url": again_url}
    user = getattr(request, "user", None)  # requests that are refused early have no account yet
    if status not in SERVER_ERRORS and user is not None and user.is_authenticated:
        return HttpResponse(render_to_string(CONSOLE, context, request), status=status)
    return HttpResponse(render_to_string(PUBLIC, context), status=status)
