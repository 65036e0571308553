"""The console's recruiting pages: entrances, panel, exits, personal links, guests, submissions."""

from __future__ import annotations

import csv
import secrets
from dataclasses import fields
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.safestring import mark_safe

from charting.qr_code import qr_svg
from core.errors import ParallaxError
from core.outcomes import refusals_in
from studies.console.forms.recruiting import (
    CODE_LABELS,
    EntryForm,
    ExitForm,
    GuestsForm,
    LinksForm,
    SignedLinksForm,
    SubmissionsForm,
)
from studies.console.views.workspace import RECRUIT, participant_url, study_page
from studies.data.codebook.cells import cell
from studies.enums import Entrance, Mode, StudyStatus
from studies.monitoring.selectors import approvals
from studies.recruitment.panels.exits import OUTCOMES, code_problems
from studies.recruitment.panels.sites import NONE, SITES
from studies.recruitment.selectors import recruitment
from studies.recruitment.services import recruitment as changing
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.submissions import columns_of, load_submissions
from studies.recruitment.services.tokens import signed_parameter
from studies.team.permissions import FORM, OWNERS, POST, Membership, for_members

LINK_HEADS = ("number", "label", "link")


def _table(name: str, heads: tuple[str, ...], rows: list[list[Any]]) -> HttpResponse:
    # No cache keeps it: it names people or lets them in.
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    writer.writerow(heads)
    writer.writerows([cell(value) for value in row] for row in rows)
    patch_cache_control(response, private=True, no_store=True)
    return response


def _page(request: HttpRequest, membership: Membership, **forms: Any) -> HttpResponse:
    study = membership.study
    how = recruitment.recruiting_of(study)
    panel, is_draft = how.panel, study.status == StudyStatus.DRAFT
    link = participant_url(request, membership)
    may_preview = panel in SITES and study.status != StudyStatus.CLOSED and study.archived_at is None
    preview = request.build_absolute_uri(entry_link(study=study, mode=Mode.PREVIEW))
    exit_forms = [forms.get(outcome) or ExitForm(study, outcome, how.exits[outcome]) for outcome in OUTCOMES]
    context = {
        "how": how,
        "has_panel": panel.key != NONE,
        "entrance_label": Entrance(how.entrance).label,
        "link": link,
        "qr_code": mark_safe(qr_svg(link)),  # noqa: S308 - drawn here from our own address
        "is_draft": is_draft,
        "card": {
            "paste": link + panel.query,
            "steps": f"console/studies/panels/{panel.key}.html" if panel in SITES else "",
            "test_link": f"{preview}&{panel.person[0]}=test-{secrets.token_hex(4)}" if may_preview else "",
        },
        "entry_form": None if is_draft else EntryForm(study, request.user),
        "exits": [
            (form, exit_, CODE_LABELS[exit_.code], exit_.template(panel), code_problems({form.outcome: exit_}, panel))
            for form, exit_ in ((form, how.exits[form.outcome]) for form in exit_forms)
        ],
        "links_form": LinksForm(),
        "link_counts": recruitment.link_counts(study),
        "guests_form": GuestsForm(),
        "signed_form": SignedLinksForm(),
        "signed_parameter": signed_parameter(panel),
        "came": recruitment.entrance_counts(study),
        **forms,
    }
    return study_page(request, membership, "console/studies/recruiting.html", context, tab=RECRUIT)


@for_members(OWNERS)
def study_recruiting(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The study's recruiting settings."""
    return _page(request, membership)


def _saved(request: HttpRequest, membership: Membership, success: str, **forms: Any) -> HttpResponse:
    """Save a form, and report the result; or show it again, by its name on the page, with its errors."""
    (form,) = forms.values()
    if form.is_valid():
        with refusals_in(form):
            messages.success(request, success.format(form.save(membership.study, request.user)))
            return redirect("studies:recruiting", slug=membership.study.slug)
    messages.error(request, "Nothing was changed; see the errors in the form.")
    return _page(request, membership, **forms)


@for_members(OWNERS, POST)
def set_entry(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Set the panel, who may enter, and how many at once."""
    form = EntryForm(membership.study, request.user, request.POST)
    return _saved(request, membership, "The entry is saved.", entry_form=form)


@for_members(OWNERS, POST)
def set_exit(request: HttpRequest, membership: Membership, outcome: str) -> HttpResponse:
    """Set the exit link of one outcome."""
    if outcome not in OUTCOMES:
        raise Http404("There is no such exit.")
    form = ExitForm(membership.study, outcome, recruitment.recruiting_of(membership.study).exits[outcome], request.POST)
    return _saved(request, membership, "The exit is saved.", **{outcome: form})


@for_members(OWNERS, POST)
def set_guests(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Replace the guest list."""
    form = GuestsForm(request.POST, request.FILES)
    return _saved(request, membership, "The guest list has {:,} ids.", guests_form=form)


@for_members(OWNERS, POST)
def create_links(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Create personal links and send them as a CSV; they are not stored and cannot be shown again."""
    form = LinksForm(request.POST, request.FILES)
    if form.is_valid():
        n, text = form.cleaned_data["n"] or 0, form.entries
        with refusals_in(form):
            created = changing.create_links(study=membership.study, n=n, text=text, actor=request.user)
            paths = [reverse("participant:personal", args=[membership.study.slug, key]) for _link, key in created]
            rows = [
                [link.pk, link.label, request.build_absolute_uri(path)]
                for (link, _key), path in zip(created, paths, strict=True)
            ]
            return _table(f"study-{membership.study.slug}_personal-links.csv", LINK_HEADS, rows)
    return _page(request, membership, links_form=form)


@for_members(OWNERS, POST)
def close_links(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Close every unused personal link."""
    n = changing.close_unused_links(study=membership.study, actor=request.user)
    messages.success(request, f"{n:,} unused links are closed.")
    return redirect("studies:recruiting", slug=membership.study.slug)


@for_members(OWNERS, POST)
def create_signed_links(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Sign ids, and send their links as a CSV."""
    form = SignedLinksForm(request.POST, request.FILES)
    if form.is_valid():
        with refusals_in(form):
            signed = changing.create_signed_links(
                study=membership.study,
                text=form.entries,
                replace_key=form.cleaned_data["replace_key"],
                actor=request.user,
            )
            link = participant_url(request, membership)
            rows = [[value, f"{link}?{query}"] for value, query in signed]
            return _table(f"study-{membership.study.slug}_identifiable-true_signed-links.csv", ("id", "link"), rows)
    return _page(request, membership, signed_form=form)


@for_members(OWNERS, FORM)
def study_submissions(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The panel's submissions compared with the study's data; a list is loaded completely or not at all."""
    how = recruitment.recruiting_of(membership.study)
    form = SubmissionsForm(request.POST or None, request.FILES or None)
    problems: list[dict[str, Any]] = []
    if request.method == "POST" and form.is_valid():
        columns = columns_of(how.panel, **form.column_names)
        try:
            done = load_submissions(
                study=membership.study, data=form.cleaned_data["file"], columns=columns, actor=request.user
            )
        except ParallaxError as refusal:
            form.add_error(None, str(refusal))
            problems = refusal.extra.get("problems", [])
        else:
            unknown = f" {done.n_unknown:,} ids belong to no participant." if done.n_unknown else ""
            messages.success(
                request,
                f"{done.n_read:,} submissions read: {done.n_new:,} new, {done.n_changed:,} changed; "
                f"{done.n_returned:,} slots reopened.{unknown}",
            )
            return redirect("studies:submissions", slug=membership.study.slug)
    lines = approvals.approvals_of(membership.study)
    verdicts = (approvals.APPROVE, approvals.LOOK, approvals.NOTHING)
    context = {
        "how": how,
        "has_panel": how.panel.key != NONE,
        "form": form,
        "problems": problems,
        "lines": lines,
        "counts": [(verdict, sum(line.verdict == verdict for line in lines)) for verdict in verdicts],
    }
    return study_page(request, membership, "console/studies/submissions.html", context, tab=RECRUIT)


@for_members(OWNERS)
def approvals_file(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The approvals as a CSV."""
    heads = tuple(field.name for field in fields(approvals.Approval))
    rows = [[getattr(approval, name) for name in heads] for approval in approvals.approvals_of(membership.study)]
    return _table(f"study-{membership.study.slug}_identifiable-true_approvals.csv", heads, rows)
