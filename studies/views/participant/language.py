"""The language of a participant's pages: chosen by the link or the browser, changed on every page."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import get_language_info

from studies.models import Study
from studies.selectors import texts as written

PARAMETER = "lang"


@dataclass(frozen=True)
class Switch:
    """A language that the page can be had in."""

    code: str
    name: str
    url: str
    is_current: bool


def browser_language(request: HttpRequest) -> str:
    """The language of the interface that the link asks for, or else the browser prefers."""
    asked = request.GET.get(PARAMETER, "")
    if asked in written.interface_languages():
        return asked
    return translation.get_language_from_request(request)[:2]


def first_language(request: HttpRequest, study: Study) -> str:
    """The language to begin in: as the form says, as the link says, as the browser prefers, or the study's first."""
    offered = written.languages_of(study)
    for wanted in (request.POST.get(PARAMETER, ""), request.GET.get(PARAMETER, ""), browser_language(request)):
        if wanted in offered:
            return wanted
    return offered[0]


def without_language(request: HttpRequest) -> str:
    """The address of the request, without the language it asked for."""
    query = request.GET.copy()
    query.pop(PARAMETER, None)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def with_language(request: HttpRequest, url: str) -> str:
    """An address that carries on the language which the link asks for, where it asks for one."""
    asked = request.GET.get(PARAMETER)
    return f"{url}?{urlencode({PARAMETER: asked})}" if asked else url


def switches(request: HttpRequest, study: Study, language: str) -> tuple[Switch, ...]:
    """The languages to switch between; none where the study is in one alone."""
    offered = written.languages_of(study)
    if len(offered) < 2:
        return ()
    others = [(name, value) for name, values in request.GET.lists() if name != PARAMETER for value in values]
    found = []
    for code in offered:
        url = f"{request.path}?{urlencode([*others, (PARAMETER, code)])}"
        name = get_language_info(code)["name_local"]
        found.append(Switch(code, name[:1].upper() + name[1:], url, code == language))
    return tuple(found)
