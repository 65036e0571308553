"""Pages of errors: what happened and how to continue, inside the console, the public pages or a study's pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from core.problem_details import problem_response
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
    text: str = ""


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
# Of requests that are refused before they are read: too large, unexpected files, too slow, too many at once.
UNREAD = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Words(
        "web.too_large",
        gettext_lazy("Text or file too large"),
        gettext_lazy(
            "This page cannot accept that much data. Nothing was saved this time; your earlier answers are saved. "
            "Go back, shorten what you entered and send it again."
        ),
    ),
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: Words(
        "web.no_files",
        gettext_lazy("No files are accepted here"),
        gettext_lazy("This page accepts text only. Nothing was saved this time; your earlier answers are saved."),
    ),
    HTTPStatus.REQUEST_TIMEOUT: Words(
        "web.too_slow",
        gettext_lazy("The connection is too slow"),
        gettext_lazy(
            "What you sent did not arrive in time. Your earlier answers are saved. Check your connection, go back and "
            "send it again."
        ),
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: Words(
        "web.overloaded",
        gettext_lazy("Too many requests at the moment"),
        gettext_lazy(
            "Many requests from your network are waiting. Your earlier answers are saved. Wait ten seconds, then load "
            "this page again."
        ),
    ),
}
SERVER_ERRORS = (HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
MAY_HELP = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.SERVICE_UNAVAILABLE)  # to send an unread request again


def error_page(request: HttpRequest, status: HTTPStatus, *, reason: str = "", again_url: str = "") -> HttpResponse:
    """The page of an error; JSON for programs. A server error asks nothing of the database.

    `reason` is shown instead of the usual text outside of participants' pages; `again_url` is where to continue.
    """
    words = WORDS[status]
    headers = {"Retry-After": "60"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    if request.path.startswith(API):
        # Programs compare messages, whatever language their user's browser asks for.
        with translation.override("en"):
            return problem_response(status, words.code, f"{words.heading}.", headers=headers)
    if request.path.startswith(OF_PARTICIPANTS):
        with translation.override(browser_language(request)):
            context = {"heading": words.heading, "text": words.for_participants}
            return HttpResponse(render_to_string(PARTICIPANT, context), status=status, headers=headers)
    context = {"heading": words.heading, "text": reason or words.text, "again_url": again_url}
    user = getattr(request, "user", None)  # requests that are refused early have no account yet
    # The account is read from the database, which may be what has failed.
    if status not in SERVER_ERRORS and user is not None and user.is_authenticated:
        return HttpResponse(render_to_string(CONSOLE, context, request), status=status)
    return HttpResponse(render_to_string(PUBLIC, context), status=status, headers=headers)


def refusal_page(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    """The page of a request that is not read, in the browser's language; JSON for programs and scripts."""
    response: HttpResponse
    words = UNREAD[status]
    if request.path.startswith(API) or request.path.endswith("/events/"):
        with translation.override("en"):
            response = problem_response(status, words.code, str(words.for_participants))
    else:
        response = HttpResponse(_refusal_html(status, browser_language(request)))
    if status in MAY_HELP:
        response.headers["Retry-After"] = "10"
    return response


@cache
def _refusal_html(status: HTTPStatus, language: str) -> str:
    words = UNREAD[status]
    with translation.override(language):
        return render_to_string(PARTICIPANT, {"heading": words.heading, "text": words.for_participants})
