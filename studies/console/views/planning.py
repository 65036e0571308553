"""Planning pages: power, expected imbalance, duration and cost, preregistration, simulated participants."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from core.errors import ParameterError
from core.networks import site_of
from core.outcomes import refusals_in
from studies.allocation.assignment.methods import method_from
from studies.allocation.assignment.permuted_blocks import block_weights
from studies.allocation.assignment.strata import strata_from
from studies.allocation.selectors.allocations import arms_of
from studies.console.forms.assignment import METHOD_LABELS, AssignmentForm
from studies.console.forms.planning import CostForm, PowerForm, SimulationForm
from studies.console.views.workspace import study_page
from studies.design.narrative.plan import (
    needed_sentence,
    planned_sentence,
    primary_test_sentence,
    share,
)
from studies.design.narrative.preregistration import FORMS, preregistration
from studies.design.selectors import planning
from studies.design.selectors.launch_overview import FLOW, LAUNCH, PARTICIPANTS, PLAN
from studies.design.selectors.versions import frozen_tests
from studies.enums import READERS
from studies.monitoring.charts import power_curve
from studies.monitoring.selectors.estimate import cost_of, estimate_of
from studies.settings import read_settings
from studies.simulation.services.pilot import request_simulation
from studies.team.permissions import FORM, OWNERS, Membership, for_members


def _power_context(form: PowerForm, membership: Membership) -> dict[str, Any]:
    cleaned = form.cleaned_data
    primary_power = planning.primary_power_sentence(
        membership.study, n=cleaned["planned"], f=cleaned.get("f", 0), alpha=cleaned["alpha"]
    )
    if membership.study.design.flow.lists.is_several:
        return {"primary_power": primary_power, "lists_in_words": planning.lists_in_words(membership.study)}
    stated = {name: cleaned[name] for name in ("planned", "f", "power", "alpha")}
    plan = planning.power_plan(conditions=form.n_conditions, **stated)
    at_planned = plan.n_values.index(cleaned["planned"])
    power = share(plan.planned.power)
    title = f"{cleaned['planned']:,} per condition detect f = {cleaned['f']:.2f} with a power of {power}"
    simulated = ""
    if cleaned["means"]:
        assumed = {name: cleaned[name] for name in ("means", "sd", "items", "alpha")}
        simulated = planning.simulated_power_sentence(membership.study, n=cleaned["planned"], **assumed)
    return {
        "plan": plan,
        "power_percent": power,
        "wished_percent": share(plan.smallest.power),
        "eta_squared": share(plan.smallest.eta_squared),
        "sensitivity_noncentrality": plan.smallest.f**2 * plan.planned.n_total,
        "sentences": [needed_sentence(plan.needed), planned_sentence(plan.planned, plan.smallest)],
        "primary_power": primary_power,
        "simulated_sentence": simulated,
        "chart": power_curve(
            plan.curves, n_values=plan.n_values, planned=cleaned["planned"], emphasised=plan.stated, title=title
        ),
        "curve_rows": [
            (n, n == cleaned["planned"], [share(line[position]) for line in plan.curves.values()])
            for position, n in enumerate(plan.n_values)
            if position % 4 == 0 or position == at_planned
        ],
    }


@for_members(READERS)
def study_power(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Participants for an effect, the smallest effect for the participants, and power by simulation."""
    form = PowerForm(membership.study, request.GET)
    context: dict[str, Any] = {
        "form": form,
        "primary_test": primary_test_sentence(membership.study.design.primary, frozen_tests(membership.study)),
    }
    if form.is_valid():
        with refusals_in(form):
            context |= _power_context(form, membership)
    return study_page(request, membership, "console/studies/power.html", context, tab=PLAN)


@for_members(READERS)
def study_imbalance(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The expected imbalance of the saved design, or of the unsaved values in its form."""
    study = membership.study
    form = AssignmentForm(study, request.GET) if "method" in request.GET else None
    context: dict[str, Any] = {"form": form, "labels": METHOD_LABELS, "problem": ""}
    if form is None or form.is_valid():
        design = read_settings({**study.settings, **(form.assignment_settings() if form else {})})
        targets = form.planned_targets() if form else [arm.target for arm in arms_of(study)]
        try:
            method = replace(method_from(design), weights=block_weights(targets))
            expected = planning.expected_imbalance(study, targets, method, strata_from(design))
        except ParameterError as problem:
            context["problem"] = str(problem)
        else:
            context["expected"] = expected
            context["lines"] = [
                (METHOD_LABELS[name], is_chosen, imbalance) for name, is_chosen, imbalance in expected.methods
            ]
    if request.headers.get("HX-Request"):
        return render(request, "console/studies/_imbalance.html", {"study": study, **context})
    return study_page(request, membership, "console/studies/imbalance.html", context, tab=PARTICIPANTS)


@for_members(READERS)
def study_estimate(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The duration per participant, and the cost at a reward."""
    form = CostForm(request.GET or None)
    estimate = estimate_of(membership.study)
    cost = None
    if form.is_valid() and form.cleaned_data["reward"] is not None:
        cleaned = form.cleaned_data
        cost = cost_of(estimate, reward=cleaned["reward"], fee_percent=cleaned["fee"] or Decimal(0))
    context = {
        "form": form,
        "estimate": estimate,
        "has_quartiles": any(step.timing is not None for step in estimate.steps),
        "cost": cost,
    }
    return study_page(request, membership, "console/studies/estimate.html", context, tab=FLOW)


@for_members(READERS)
def study_preregistration(request: HttpRequest, membership: Membership, form: str) -> HttpResponse:
    """The preregistration text as Markdown, to be revised and pasted."""
    if form not in FORMS:
        raise Http404("This preregistration form does not exist.")
    text = preregistration(planning.preregistration_plan(membership.study), form)
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="study-{membership.study.slug}_preregistration_{form}.md"'
    return response


@for_members(OWNERS, FORM)
def simulation_new(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Request simulated participants; the page of the job shows their progress."""
    form = SimulationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            job = request_simulation(
                study=membership.study, base_url=f"{site_of(request)}/", actor=request.user, **form.cleaned_data
            )
            return redirect("studies:simulation", slug=membership.study.slug, pk=job.pk)
    context = {"form": form, "jobs": membership.study.jobs.filter(kind="simulation")[:10]}
    return study_page(request, membership, "console/studies/simulate.html", context, tab=LAUNCH)


@never_cache
@for_members(READERS)
def simulation_job(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    """The progress of a simulation, then links to its results; htmx asks for the part that changes."""
    job = get_object_or_404(membership.study.jobs, kind="simulation", pk=pk)
    context = {"study": membership.study, "membership": membership, "job": job}
    if request.headers.get("HX-Request"):
        return render(request, "console/studies/_simulation.html", context)
    return study_page(request, membership, "console/studies/simulation.html", context, tab=LAUNCH)
