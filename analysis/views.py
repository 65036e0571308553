"""Pages of the reports: the list, a report, its files, and the form that builds one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from analysis.exports.document import document_of
from analysis.exports.files import report_html, report_json
from analysis.forms import ReportForm
from analysis.models import Report
from analysis.selectors.reports import reports_of, studies_to_report
from analysis.services import build_report
from core.errors import ParallaxError


@require_safe
def report_list(request: HttpRequest) -> HttpResponse:
    """List the reports of the researcher's studies, newest first; of one study, if it is named."""
    slug = request.GET.get("study", "").replace("\x00", "")  # PostgreSQL keeps no NUL
    study = studies_to_report(request.user).filter(slug=slug).first() if slug else None
    reports = reports_of(request.user)
    context = {
        "reports": reports.filter(study=study) if study else reports,
        "study": study,
        "has_studies": study is not None or studies_to_report(request.user).exists(),
    }
    return render(request, "analysis/list.html", context)


@require_http_methods(["GET", "POST"])
def report_new(request: HttpRequest) -> HttpResponse:
    """Build a report, at once: it takes seconds."""
    if request.method == "GET":
        form = ReportForm(researcher=request.user, initial={"study": request.GET.get("study")})
        return render(request, "analysis/new.html", {"form": form})
    form = ReportForm(request.POST, researcher=request.user)
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            report = build_report(study=chosen["study"], mode=chosen["mode"] or None, made_by=request.user)
        except ParallaxError as refused:
            messages.error(request, str(refused))
        else:
            return redirect("analysis:detail", pk=report.pk)
    return render(request, "analysis/new.html", {"form": form}, status=400)


@require_safe
def report_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a report."""
    report = _own(request, pk)
    return render(request, "analysis/detail.html", {"report": report, "document": document_of(report)})


@require_safe
def report_file(request: HttpRequest, pk: int) -> HttpResponse:
    """Give the report as one self-contained HTML file."""
    report = _own(request, pk)
    return _download(report_html(report), "text/html", report, "html")


@require_safe
def report_numbers(request: HttpRequest, pk: int) -> HttpResponse:
    """Give every number of the report as JSON."""
    report = _own(request, pk)
    return _download(report_json(report), "application/json", report, "json")


def _own(request: HttpRequest, pk: int) -> Report:
    """The report, where the researcher is on its study and may read outcomes; else it does not exist."""
    return get_object_or_404(reports_of(request.user), pk=pk)


def _download(content: str, content_type: str, report: Report, suffix: str) -> HttpResponse:
    response = HttpResponse(content, content_type=f"{content_type}; charset=utf-8")
    name = f"{report.study.slug}-report-{report.number}.{suffix}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
