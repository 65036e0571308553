"""The interviewer's page: start a session, without access to the rest of the study."""

from __future__ import annotations

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from studies.console.forms.recruiting import InterviewForm
from studies.console.views.outcomes import refusals_in
from studies.enums import StudyStatus
from studies.participation.services.interviews import start_interview
from studies.recruitment.selectors.recruitment import sessions_of
from studies.team.permissions import STARTERS, Seat, seated


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@seated(STARTERS)
def interview(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Note location and label, and start a session on this device or on another.

    On this device the interviewer is signed out first, so the participant cannot reach the console.
    """
    study = seat.study
    form = InterviewForm(request.POST or None)
    link = ""
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            started = start_interview(study=study, interviewer=request.user, **form.cleaned_data)
            if request.POST.get("where") != "elsewhere":
                logout(request)
                return redirect("participant:hand-over", slug=study.slug, key=started.key)
            link = request.build_absolute_uri(reverse("participant:personal", args=[study.slug, started.key]))
            form = InterviewForm(initial={"place": started.interview.place})
    context = {
        "study": study,
        "seat": seat,
        "form": form,
        "link": link,
        "is_open": study.status == StudyStatus.LIVE,
        "sessions": sessions_of(study, request.user),
    }
    return render(request, "console/studies/interview.html", context)
