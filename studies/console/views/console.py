"""The console's list of studies, and a researcher's notices."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.errors import ParallaxError
from studies.console.forms.study_lifecycle import MailForm
from studies.enums import NoticeMail
from studies.team.selectors import studies
from studies.team.services.notices import choose_mail, mark_read

ON_A_PAGE = 30


@require_safe
def study_list(request: HttpRequest) -> HttpResponse:
    """The researcher's own studies."""
    rows = list(studies.studies_of(request.user))
    context = {
        "studies": [study for study in rows if study.archived_at is None],
        "archived": [study for study in rows if study.archived_at is not None],
        "ownerless": studies.ownerless_studies() if request.user.is_superuser else (),
    }
    return render(request, "console/studies/list.html", context)


@require_safe
def notice_list(request: HttpRequest) -> HttpResponse:
    """All notices about the researcher's studies, unread first."""
    page = Paginator(studies.notices_of(request.user), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "n_unread": studies.n_unread(request.user),
        "owned": studies.owned_by(request.user),
        "choices": NoticeMail.choices,
    }
    return render(request, "console/studies/notices.html", context)


@never_cache
@require_safe
def notice_count(request: HttpRequest) -> HttpResponse:
    """The number of unread notices, for the header of every page."""
    return render(request, "console/studies/_unread.html", {"n": studies.n_unread(request.user)})


@require_POST
def notice_read(request: HttpRequest) -> HttpResponse:
    """Mark one notice or all as read."""
    notice = request.POST.get("notice", "")
    if notice == "all":
        mark_read(researcher=request.user)
    elif notice.isdecimal() and len(notice) < 19:
        mark_read(researcher=request.user, receipt=int(notice))
    else:
        messages.error(request, "Choose the notice to mark as read.")
    return redirect("studies:notices")


@require_POST
def notice_mail(request: HttpRequest) -> HttpResponse:
    """Choose when to get e-mails about a study."""
    form = MailForm(request.POST)
    try:
        if not form.is_valid():
            raise ParallaxError("notice.unknown_choice", "Choose one of your studies, and when to send e-mails.")
        choose_mail(researcher=request.user, slug=form.cleaned_data["study"], mail=form.cleaned_data["mail"])
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "Saved.")
    return redirect("studies:notices")
