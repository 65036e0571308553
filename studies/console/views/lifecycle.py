"""The launch of a study, and what follows it: pause, resume, close."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from studies.console.views.outcomes import button, perform
from studies.console.views.workspace import OVERVIEW, study_page
from studies.design.selectors.launch_checklist import DONE, CheckLine, launch_checklist
from studies.design.selectors.launch_overview import launch_overview
from studies.design.selectors.texts import language_name
from studies.design.services import launch
from studies.enums import StudyStatus
from studies.models import Study
from studies.team.permissions import FORM, OWNERS, Seat, seated

# Where each check is done: URL name, fragment and link text, by the page of a gap.
CHECK_PAGES = {
    "preview": ("studies:preview", "", "Try it as a participant"),
    "simulate": ("studies:simulate", "", "Simulate participants"),
    "pilot": ("studies:quality", "#incoming", "Data of the pilot"),
    "power": ("studies:power", "", "Power"),
    "design": ("studies:design", "", "Change the design"),
    "assignment": ("studies:design", "#assignment", "Change the design"),
    "conditions": ("studies:conditions", "", "Choose conditions"),
    "questionnaire": ("studies:questionnaire", "", "Questionnaire"),
    "recruiting": ("studies:recruiting", "#exits", "Exit links"),
}


def _page_link(study: Study, page: str) -> tuple[str, str]:
    """The address and the name of the page where a check is done."""
    name, fragment, label = CHECK_PAGES[page]
    return reverse(name, args=[study.slug]) + fragment, label


def _check_links(study: Study, line: CheckLine) -> list[tuple[str, str]]:
    """The pages of what is missing, or of the check itself where nothing is."""
    pages = dict.fromkeys(finding.page for finding in (*line.problems, *line.gaps) if finding.page)
    return [_page_link(study, page) for page in pages or (line.page,)]


@seated(OWNERS, FORM)
def study_launch(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Show what the launch freezes and what is missing; confirmed, freeze the design and open the study."""
    study = seat.study
    is_draft = study.status == StudyStatus.DRAFT
    digest = launch.design_digest(study) if is_draft else ""
    if request.method == "POST":
        if not is_draft or request.POST.get("design") == digest:
            perform(request, launch.launch_study, "The study is live, and its design is frozen.", study=study)
            return redirect("studies:detail", slug=study.slug)
        messages.error(request, "The design has changed since this page was opened. Check it again, then confirm.")
        return redirect("studies:launch", slug=study.slug)
    if not is_draft or study.archived_at is not None:
        messages.error(request, "Only a draft that is not archived can be launched.")
        return redirect("studies:detail", slug=study.slug)
    overview, problems = launch_overview(study), launch.launch_findings(study)
    checks = launch_checklist(overview.gaps, problems)
    context = {
        "digest": digest,
        "overview": overview,
        "problems": problems,
        "checks": [(line, _check_links(study, line)) for line in checks],
        "n_done": sum(line.state == DONE for line in checks),
        "planned": sum(condition.target for condition in overview.conditions),
        "languages": [language_name(code) for code in study.settings["languages"]],
    }
    return study_page(request, seat, "console/studies/launch.html", context, tab=OVERVIEW)


study_pause = button(launch.pause_study, "The study is paused.")
study_resume = button(launch.resume_study, "The study is live again.")
study_close = button(launch.close_study, "The study is closed.")
