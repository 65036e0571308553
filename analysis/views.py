"""Pages of the reports: the list, a report, its files, and the form that builds one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.utils.encoding import iri_to_uri
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.files.choices import Choices, Chosen, chosen_body
from analysis.files.listing import PACKAGE
from analysis.forms import ChapterForm, ReportForm
from analysis.models import Report
from analysis.read.reports import report_of, reports_of, requests_of, sample_reports, studies_to_report
from analysis.read.responses import mode_to_report
from analysis.read.sample import comments_of
from analysis.services import Download
from analysis.services.bayesian_jobs import request_bayesian
from analysis.services.packages import file_or_request, files_state
from analysis.services.report_cache import PAGE, chapter_of, is_outdated, page_of, pair_body, request_pages
from analysis.services.requests import request_report, require_open_answers
from core.errors import NotAllowedInState, ParallaxError
from jobs.models import Job
from jobs.services import cancel
from studies.console.views.workspace import REPORT, study_page
from studies.enums import READERS
from studies.monitoring.selectors.outcomes import are_outcomes_blinded
from studies.team.permissions import Membership
from studies.team.selectors.studies import membership_of


@require_safe
def report_list(request: HttpRequest) -> HttpResponse:
    """List the reports of the researcher's studies, newest first; of one study, if it is named, under its tabs."""
    slug = request.GET.get("study", "").replace("\x00", "")  # PostgreSQL keeps no NUL
    membership = membership_of(request.user, slug) if slug else None
    if membership is not None and membership.role in READERS:
        study = membership.study
        can_report = studies_to_report(request.user).filter(pk=study.pk).exists()
        context = {
            "reports": reports_of(request.user).filter(study=study),
            "can_report": can_report,
            "is_shut": can_report and are_outcomes_blinded(study, [mode_to_report(study)]),
        }
        return study_page(request, Membership(study, membership.role), "analysis/study.html", context, tab=REPORT)
    context = {"reports": reports_of(request.user), "has_studies": studies_to_report(request.user).exists()}
    return render(request, "analysis/list.html", context)


@require_http_methods(["GET", "POST"])
def report_new(request: HttpRequest) -> HttpResponse:
    """Request a report from a worker; its page shows the progress, then the report."""
    studies = studies_to_report(request.user)
    if request.method == "GET":
        form = ReportForm(studies=studies, initial={"study": request.GET.get("study")})
        return render(request, "analysis/new.html", {"form": form})
    form = ReportForm(request.POST, studies=studies)
    if form.is_valid():
        study, mode, overrides = form.cleaned_data["study"], form.cleaned_data["mode"] or None, form.overrides()
        try:
            require_open_answers(study=study, mode=mode)
        except ParallaxError as refused:
            messages.error(request, str(refused))
        else:
            job = request_report(study=study, mode=mode, overrides=overrides, asked_by=request.user)
            return redirect("analysis:request", pk=job.pk)
    return render(request, "analysis/new.html", {"form": form}, status=400)


@require_safe
def report_request(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of a worker; then the report, or the download of the package."""
    job = get_object_or_404(requests_of(request.user), pk=pk)
    report = report_of(job)
    if job.kind == "report" and report is not None:
        if request.headers.get("HX-Request"):
            return HttpResponse(headers={"HX-Redirect": report.get_absolute_url()})
        return redirect(report)
    part = "parts/_request" if request.headers.get("HX-Request") else "request"
    return render(request, f"analysis/{part}.html", {"job": job, "study": job.subject, "report": report})


@require_POST
def report_request_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a request of the researcher."""
    _cancel(request, get_object_or_404(requests_of(request.user), pk=pk))
    return redirect("analysis:request", pk=pk)


def _cancel(request: HttpRequest, job: Job) -> None:
    try:
        cancel(job, actor=request.user)
    except NotAllowedInState as refused:
        messages.error(request, str(refused))


@login_not_required
@require_safe
@gzip_page  # charts by their numbers; the token is masked anew in each response, and the length padded
def report_detail(request: HttpRequest, study: str, number: int) -> HttpResponse:
    """Show a report and its files; without the files where it is read as a sample."""
    report = _own_or_sample(request, study__slug=study, number=number)
    if report is None:
        return redirect_to_login(request.get_full_path())
    if (waiting := _redrawing(request, report, PAGE)) is not None:
        return waiting
    page = page_of(report)
    context = {"report": report, "page": page, "analysis": report.analysis, "shell": _shell(request)}
    if not getattr(report, "is_public", False):
        context["state"] = files_state(report, page)
    return render(request, "analysis/detail.html", context)


@require_safe
def report_files(request: HttpRequest, study: str, number: int) -> HttpResponse:
    """What is drawn of a report's files and what is left, as a part of its page."""
    report = _own(request, study, number)
    state = files_state(report, page_of(report))
    return render(request, "analysis/parts/_files_state.html", {"report": report, "state": state})


def _redrawing(request: HttpRequest, report: Report, name: str) -> HttpResponse | None:
    """The page that waits for a worker, where the page has to be drawn anew; None where it is drawn."""
    is_polling = request.headers.get("HX-Target") == "redrawing"
    if not is_outdated(report, name):
        return HttpResponse(headers={"HX-Refresh": "true"}) if is_polling else None
    if is_polling:
        return HttpResponse(status=204)  # nothing new yet
    request_pages(report)
    return render(request, "analysis/redrawing.html", {"report": report, "shell": _shell(request)})


@login_not_required
@require_safe
@gzip_page  # charts by their numbers; the token is masked anew in each response, and the length padded
def report_chapter(request: HttpRequest, study: str, number: int, chapter: str) -> HttpResponse:
    """Show one chapter of a report."""
    report = _own_or_sample(request, study__slug=study, number=number)
    if report is None:
        return redirect_to_login(request.get_full_path())
    if (waiting := _redrawing(request, report, PAGE) or _redrawing(request, report, f"{PAGE}-{chapter}")) is not None:
        return waiting
    page = page_of(report)
    position = next((at for at, link in enumerate(page.chapters) if link.key == chapter), None)
    if position is None:
        raise Http404("This report has no such chapter.")
    following = page.chapters[position + 1] if position + 1 < len(page.chapters) else None
    form = ChapterForm(request.GET, choices=page.choices, chapter=chapter)
    chosen = form.chosen()
    context = {
        "form": form,
        "chosen": chosen,
        "has_choices": chapter in ChapterForm.FIELDS,
        "pair": _pair(report, page.choices, chosen) if chapter == "comparison" else "",
        "report": report,
        "analysis": report.analysis,
        "page": page,
        "chapter": page.chapters[position],
        "following": following,
        "body": _chosen_body(chapter_of(report, chapter), page.choices, chosen),
        "shell": _shell(request),
    }
    return render(request, "analysis/chapter.html", context)


def _chosen_body(body: str, choices: Choices, chosen: Chosen) -> SafeString:
    metrics = tuple(kind for kind, _ in choices.metrics)
    return mark_safe(chosen_body(body, chosen, metrics=metrics, alpha=choices.alpha))  # noqa: S308 -- as cached


def _pair(report: Report, choices: Choices, chosen: Chosen) -> SafeString | str:
    """The chosen pair of measures, the first of each where only some are chosen; empty where none is."""
    if not (chosen.measure or chosen.metric or chosen.length) or not choices.measures:
        return ""
    firsts = (choices.measures[0][0], choices.metrics[0][0], choices.lengths[0][0])
    own = (chosen.measure, chosen.metric, chosen.length)
    measure, metric, length = (choice or first for choice, first in zip(own, firsts, strict=True))
    body = pair_body(report, measure=measure, metric=metric, length=int(length))
    return _chosen_body(body, choices, replace(chosen, measure="", metric="", length="")) if body else ""


@require_safe
def report_comments(request: HttpRequest, study: str, number: int) -> HttpResponse:
    """List the comments of the analysed participants, which the report itself does not hold."""
    report = _own(request, study, number)
    response = render(request, "analysis/comments.html", {"report": report, "comments": comments_of(report)})
    patch_cache_control(response, private=True, no_store=True)
    return response


@require_safe
def bayesian_progress(request: HttpRequest, study: str, number: int) -> HttpResponse:
    """The progress of the Bayesian analysis, as a part of the report's page, which is loaded again once it ends."""
    report = _own(request, study, number)
    analysis = report.analysis
    if analysis is None:
        raise Http404("No Bayesian analysis was requested.")
    if not analysis.is_open:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "analysis/parts/_bayesian.html", {"report": report, "analysis": analysis})


@require_POST
def bayesian_request(request: HttpRequest, study: str, number: int) -> HttpResponse:
    """Request the Bayesian analysis of a report that has none, or whose analysis failed or was cancelled."""
    report = _own(request, study, number)
    request_bayesian(report=report, actor=request.user)
    return redirect(report)


@require_POST
def bayesian_cancel(request: HttpRequest, study: str, number: int) -> HttpResponse:
    """Cancel the Bayesian analysis of a report."""
    report = _own(request, study, number)
    if report.analysis is not None:
        _cancel(request, report.analysis)
    return redirect(report)


@require_safe
def report_file(request: HttpRequest, study: str, number: int, name: str) -> HttpResponse:
    """Download one file of the report; a worker creates the study package first, unless one is stored."""
    report = _own(request, study, number)
    try:
        file = file_or_request(report=report, name=name, actor=request.user)
    except ParallaxError as refused:
        if refused.code == "report.no_such_file":
            raise Http404(str(refused)) from refused
        messages.error(request, str(refused))
        return redirect(report)
    if isinstance(file, Download):
        return file.response()
    if name == PACKAGE:
        return redirect("analysis:request", pk=file.pk)
    messages.info(request, f"A worker is drawing {name}. The list of files shows when it is ready.")
    return redirect(f"{report.get_absolute_url()}#files")


@login_not_required
@require_safe
def report_by_key(request: HttpRequest, pk: int, rest: str = "") -> HttpResponse:
    """Redirect from a report's former address to its address by study and number."""
    report = _own_or_sample(request, pk=pk)
    if report is None:
        return redirect_to_login(request.get_full_path())
    query = f"?{request.META['QUERY_STRING']}" if request.META["QUERY_STRING"] else ""
    return redirect(f"{report.get_absolute_url()}{iri_to_uri(rest)}{query}", permanent=True)


def _own(request: HttpRequest, study: str, number: int) -> Report:
    """The report, where the researcher is on its study and may read outcomes; else it does not exist."""
    reports = reports_of(request.user).select_related("study", "run", "made_by")
    return get_object_or_404(reports, study__slug=study, number=number)


def _own_or_sample(request: HttpRequest, **address: Any) -> Report | None:
    """The report of the researcher, else the sample report; None where a visitor has to sign in first."""
    if not request.user.is_authenticated:
        return sample_reports().filter(**address).first()
    own = reports_of(request.user).select_related("study", "run", "made_by").filter(**address).first()
    return own or get_object_or_404(sample_reports(), **address)


def _shell(request: HttpRequest) -> str:
    """The template around a report: the console's, or the public one for visitors."""
    return "console/base.html" if request.user.is_authenticated else "public/base.html"
