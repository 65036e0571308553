"""The console's list of studies, and the creation of one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.selectors.runs import failed_algorithms
from studies.console.forms.console import NewStudyForm
from studies.console.views.outcomes import refusals_in
from studies.design.services.design import create_study
from studies.team.selectors import studies


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


@require_http_methods(["GET", "HEAD", "POST"])
def study_new(request: HttpRequest) -> HttpResponse:
    """Create a study from a template; a link from a run chooses its models."""
    form = NewStudyForm(request.POST or None, researcher=request.user, initial={"run": request.GET.get("run")})
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        with refusals_in(form, "slug", of="slug"):
            study = create_study(**cleaned, version=cleaned["run"].version, owner=request.user)
            messages.success(request, "The study is created. Review its design, preview it, then launch it.")
            for failed in failed_algorithms(study.run):
                messages.warning(
                    request,
                    f"{failed.label} is not a condition, because it failed in run {study.run_id}: {failed.error}",
                )
            return redirect("studies:detail", slug=study.slug)
    has_runs = form.fields["run"].queryset.exists()  # type: ignore[attr-defined]
    return render(request, "console/studies/new.html", {"form": form, "has_runs": has_runs})
