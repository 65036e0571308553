"""The pages of the gallery."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.views.administration import for_administrators
from parallax.design.pages import PAGES

THEMES = {"": "As the device", "light": "Light", "dark": "Dark"}


@never_cache
@require_safe
@for_administrators
def gallery_page(request: HttpRequest, key: str = next(iter(PAGES))) -> HttpResponse:
    """A page of components, light or dark as `?theme=` says; for administrators."""
    page = PAGES.get(key)
    theme = request.GET.get("theme", "")
    if page is None or theme not in THEMES:
        raise Http404("The gallery has no such page.")
    sections = [
        (section, [(state, render_to_string(state.template, dict(state.context), request)) for state in section.states])
        for section in page.sections()
    ]
    links = [(name, linked.title) for name, linked in PAGES.items()]
    shown = {"page": page, "key": key, "pages": links, "sections": sections, "theme": theme, "themes": THEMES.items()}
    return render(request, "design/page.html", {**page.context, **shown})
