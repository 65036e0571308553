"""The language of a participant's pages: chosen by the link or the browser, changed on every page."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import get_language_info

from studies.design.selectors import texts as written
from studies.models import Study

PARAMETER = "lang"


def browser_language(request: HttpRequest) -> str:
    """The language of the interface that the link asks for, or else the browser prefers."""
    chosen = request.GET.get(PARAMETER, "")
    if chosen in written.interface_languages():
        return chosen
    return translation.get_language_from_request(request)[:2]


def first_language(request: HttpRequest, study: Study) -> str:
    """The initial language: from the form, the link, the browser's preference, or the study's first."""
    offered = written.languages_of(study)
    for wanted in (request.POST.get(PARAMETER, ""), request.GET.get(PARAMETER, ""), browser_language(request)):
        if wanted in offered:
            return wanted
    return offered[0]


def without_language(request: HttpRequest) -> str:
    """The address of the request, without its language parameter."""
    query = request.GET.copy()
    query.pop(PARAMETER, None)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def with_language(request: HttpRequest, url: str) -> str:
    """An address with the language parameter of the link, if any."""
    chosen = request.GET.get(PARAMETER)
    return f"{url}?{urlencode({PARAMETER: chosen})}" if chosen else url


def switches(request: HttpRequest, study: Study | None, language: str) -> list[tuple[str, str, str]]:
    """Code, name and address of the page's other languages, without a study those of the interface."""
    offered = written.languages_of(study) if study else written.interface_languages()
    if len(offered) < 2:
        return []
    parameters = [(name, value) for name, values in request.GET.lists() if name != PARAMETER for value in values]
    switches = []
    for code in offered:
        if code != language:
            url = f"{request.path}?{urlencode([*parameters, (PARAMETER, code)])}"
            name = get_language_info(code)["name_local"]
            switches.append((code, name[:1].upper() + name[1:], url))
    return switches
