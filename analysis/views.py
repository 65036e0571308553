"""Pages of the reports: the list, a report, its files, and the form that builds one."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.enums import REQUEST_OPEN, RequestKind
from analysis.forms import ReportForm
from analysis.models import BayesianAnalysis, Report
from analysis.package import PACKAGE
from analysis.selectors.comments import comments_of
from analysis.selectors.reports import reports_of, requests_of, studies_to_report
from analysis.selectors.responses import mode_to_report
from analysis.services import Download, build_report, download_if_ready
from analysis.services.bayesian_jobs import cancel_bayesian, request_bayesian
from analysis.services.packages import download_package
from analysis.services.report_cache import page_of
from analysis.services.requests import (
    cancel_request,
    request_package,
    request_report,
    require_open_answers,
    takes_long,
)
from core.errors import NotAllowedInState, ParallaxError
from studies.monitoring.selectors.outcomes import are_outcomes_shut


@require_safe
def report_list(request: HttpRequest) -> HttpResponse:
    """List the reports of the researcher's studies, newest first; of one study, if it is named."""
    slug = request.GET.get("study", "").replace("\x00", "")  # PostgreSQL keeps no NUL
    study = studies_to_report(request.user).filter(slug=slug).first() if slug else None
    reports = reports_of(request.user)
    context = {
        "reports": reports.filter(study=study) if study else reports,
        "study": study,
        "is_shut": study is not None and are_outcomes_shut(study, [mode_to_report(study)]),
        "has_studies": study is not None or studies_to_report(request.user).exists(),
    }
    return render(request, "analysis/list.html", context)


@require_http_methods(["GET", "POST"])
def report_new(request: HttpRequest) -> HttpResponse:
    """Build a report: at once where it takes seconds, else on a worker."""
    if request.method == "GET":
        form = ReportForm(researcher=request.user, initial={"study": request.GET.get("study")})
        return render(request, "analysis/new.html", {"form": form})
    form = ReportForm(request.POST, researcher=request.user)
    if form.is_valid():
        study, mode, overrides = form.cleaned_data["study"], form.cleaned_data["mode"] or None, form.overrides()
        try:
            require_open_answers(study=study, mode=mode)
            if takes_long(study, mode):
                return redirect(request_report(study=study, mode=mode, overrides=overrides, asked_by=request.user))
            report = build_report(study=study, mode=mode, overrides=overrides, made_by=request.user)
        except ParallaxError as refused:
            messages.error(request, str(refused))
        else:
            return redirect("analysis:detail", pk=report.pk)
    return render(request, "analysis/new.html", {"form": form}, status=400)


@require_safe
def report_request(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of a worker; then the report, or the download of the package."""
    worker_request = get_object_or_404(requests_of(request.user), pk=pk)
    if worker_request.kind == RequestKind.REPORT and worker_request.report is not None:
        if request.headers.get("HX-Request"):
            return HttpResponse(headers={"HX-Redirect": worker_request.report.get_absolute_url()})
        return redirect(worker_request.report)
    part = "parts/_request" if request.headers.get("HX-Request") else "request"
    context = {"worker_request": worker_request, "is_open": worker_request.status in REQUEST_OPEN}
    return render(request, f"analysis/{part}.html", context)


@require_POST
def report_request_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a request of the researcher."""
    worker_request = get_object_or_404(requests_of(request.user), pk=pk)
    try:
        cancel_request(request=worker_request, actor=request.user)
    except NotAllowedInState as refused:
        messages.error(request, str(refused))
    return redirect(worker_request)


@require_safe
def report_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a report and its files."""
    report = _own(request, pk)
    context = {"report": report, "page": page_of(report), "analysis": report.analysis}
    return render(request, "analysis/detail.html", context)


@require_safe
def report_comments(request: HttpRequest, pk: int) -> HttpResponse:
    """List the comments of the analysed participants, which the report itself does not hold."""
    report = _own(request, pk)
    response = render(request, "analysis/comments.html", {"report": report, "comments": comments_of(report)})
    patch_cache_control(response, private=True, no_store=True)
    return response


@require_safe
def bayesian_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of the Bayesian analysis, as a part of the report's page, which is loaded again once it ends."""
    report = _own(request, pk)
    analysis = get_object_or_404(BayesianAnalysis, report=report)
    if not analysis.is_open:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "analysis/parts/_bayesian.html", {"report": report, "analysis": analysis})


@require_POST
def bayesian_request(request: HttpRequest, pk: int) -> HttpResponse:
    """Request the Bayesian analysis of a report that has none, or whose analysis failed or was cancelled."""
    report = _own(request, pk)
    request_bayesian(report=report, actor=request.user)
    return redirect(report)


@require_POST
def bayesian_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel the Bayesian analysis of a report."""
    report = _own(request, pk)
    try:
        cancel_bayesian(analysis=get_object_or_404(BayesianAnalysis, report=report), actor=request.user)
    except NotAllowedInState as refused:
        messages.error(request, str(refused))
    return redirect(report)


@require_safe
def report_file(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Download one file of the report; a worker creates the study package first, unless one is stored."""
    report = _own(request, pk)
    if name == PACKAGE and report.is_pilot:
        raise Http404("A pilot report has no study package.")
    if name == PACKAGE:
        package = download_package(report=report, actor=request.user)
        if package is None:
            return redirect(request_package(report=report, asked_by=request.user))
        return _response(package)
    try:
        file = download_if_ready(report=report, name=name, actor=request.user)
    except ParallaxError as refused:
        if refused.code == "report.no_such_file":
            raise Http404(str(refused)) from refused
        messages.error(request, str(refused))
        return redirect("analysis:detail", pk=report.pk)
    if file is None:
        messages.info(request, f"A worker is drawing {name}. Select it again in a few seconds.")
        return redirect("analysis:detail", pk=report.pk)
    return _response(file)


def _response(file: Download) -> HttpResponse:
    response = HttpResponse(file.content, content_type=file.content_type)
    response["Content-Disposition"] = f'attachment; filename="{file.filename}"'
    patch_cache_control(response, private=True, no_store=True)
    return response


def _own(request: HttpRequest, pk: int) -> Report:
    """The report, where the researcher is on its study and may read outcomes; else it does not exist."""
    reports = reports_of(request.user).select_related("study", "run", "made_by", "bayesian")
    return get_object_or_404(reports, pk=pk)
