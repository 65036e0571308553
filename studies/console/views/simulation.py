"""Simulated participants of a study: requested from a worker, with progress."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from core.networks import site_of
from studies.console.forms.simulation import SimulationForm
from studies.console.views.outcomes import refusals_in
from studies.console.views.workspace import OVERVIEW, study_page
from studies.simulation.services.simulation_jobs import request_simulation
from studies.team.permissions import FORM, OWNERS, READERS, Seat, seated


@seated(OWNERS, FORM)
def simulation_new(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Request simulated participants; the page of the job shows their progress."""
    form = SimulationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            job = request_simulation(
                study=seat.study, base_url=f"{site_of(request)}/", actor=request.user, **form.cleaned_data
            )
            return redirect("studies:simulation", slug=seat.study.slug, pk=job.pk)
    context = {"form": form, "jobs": seat.study.jobs.filter(kind="simulation")[:10]}
    return study_page(request, seat, "console/studies/simulate.html", context, tab=OVERVIEW)


@never_cache
@seated(READERS)
def simulation_job(request: HttpRequest, seat: Seat, pk: int) -> HttpResponse:
    """The progress of a simulation, then links to its results; htmx asks for the part that changes."""
    job = get_object_or_404(seat.study.jobs, kind="simulation", pk=pk)
    context = {"study": seat.study, "seat": seat, "job": job}
    if request.headers.get("HX-Request"):
        return render(request, "console/studies/_simulation.html", context)
    return study_page(request, seat, "console/studies/simulation.html", context, tab=OVERVIEW)
