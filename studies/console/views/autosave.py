"""Autosave: what the server answers when the form of a stage is posted.

`static/js/autosave.js` posts the whole form a moment after a change, with the header of `HEADER`, and gets JSON:

- ``saved``: everything is stored.
- ``invalid``: `errors` by field. A field with an error is not stored; the others are, if the form is right with what
  is stored for that field.
- ``conflict``: another researcher changed the stage since the form was rendered. Nothing is stored; `fields` are what
  they changed, each with its values and whether it clashes with what was entered here. Posted again with the new
  revision, what is entered is stored.
- ``refused``: nothing can be stored any more, such as after the launch.

Every answer but the last has the `revision` to post next: a digest of each field's stored value. Without scripts the
same form is posted by its button, and the page is rendered again with the same facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect

from core.models import LogEntry
from core.outcomes import refusals_in
from studies.console.forms.stage_form import StageForm, digest_of_values
from studies.console.stages import STAGE_OF
from studies.console.views.workspace import study_page
from studies.design.services.amending import RUNNING
from studies.enums import StudyStatus
from studies.models import Study
from studies.team.permissions import Membership
from studies.team.selectors.studies import log_of

HEADER = "X-Autosave"
SAVED, INVALID, CONFLICT, REFUSED = "saved", "invalid", "conflict", "refused"
READ_ONLY = "Not saved: the study was launched or archived, or your role changed. Reload the page."


@dataclass(frozen=True)
class ChangedField:
    """A field that another researcher changed: its values, and whether they clash with what is entered here."""

    name: str
    label: str
    values: list[str]
    is_clash: bool


@dataclass
class Outcome:
    """The result of a posted form, and the form to show; `fields` were changed by `who` at `when`."""

    status: str
    form: StageForm
    revision: str
    fields: list[ChangedField] = field(default_factory=list)
    who: str = ""
    when: str = ""

    def as_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"status": self.status, "revision": self.revision}
        if self.status == INVALID:
            answer["errors"] = self.form.problems()
        if self.status == CONFLICT:
            answer |= {"who": self.who, "when": self.when, "fields": [asdict(their) for their in self.fields]}
        return answer


FormOf = Callable[[Study, Any], StageForm]  # of a study, and of posted data or None


@transaction.atomic
def save_posted(study: Study, form_of: FormOf, data: QueryDict, actor: Any) -> Outcome:
    """Store what was posted, unless it is invalid or another researcher changed the stage meanwhile."""
    current = Study.objects.select_for_update(of=("self",)).select_related("dataset_version__dataset", "run")
    study = current.get(pk=study.pk)
    shown = form_of(study, None)
    stored, form = shown.stored_values(), form_of(study, data)
    if theirs := _theirs(shown, form, data.get("revision", "")):
        entry = log_of(study, 1).first()
        clashes = {their.name for their in theirs if their.is_clash}
        adopted = form.with_stored({their.name for their in theirs} - clashes, shown)
        who, when = _author(entry, actor)
        return Outcome(CONFLICT, form_of(study, adopted), shown.revision(), theirs, who, when)
    if not form.is_valid():
        rest = form_of(study, form.with_stored(form.wrong_fields() & stored.keys(), shown))
    else:
        rest = form
    if rest.is_valid() and rest.entered_values() != stored:
        with refusals_in(form, form.refused_field):
            rest.save(actor)
    status = SAVED if form.is_valid() else INVALID
    return Outcome(status, form, form_of(current.get(pk=study.pk), None).revision())


def _theirs(shown: StageForm, form: StageForm, revision: str) -> list[ChangedField]:
    """The fields whose stored value is not the one that the posted form was rendered from."""
    before = dict(part.split(":", 1) for part in revision.split(" ") if ":" in part)
    entered, theirs = form.entered_values(), []
    for name, values in shown.stored_values().items():
        if before.get(name, digest_of_values(values)) == digest_of_values(values) or entered.get(name) == values:
            continue
        is_clash = digest_of_values(entered.get(name, [])) != before[name]
        theirs.append(ChangedField(name, shown.label_of(name), values, is_clash))
    return theirs


def _author(entry: LogEntry | None, actor: Any) -> tuple[str, str]:
    if entry is None or entry.actor is None:
        return "Another researcher", ""
    who = "You, in another window," if entry.actor == actor else str(entry.actor)
    return who, f"{entry.at:%H:%M} UTC"


def stage_page(
    request: HttpRequest,
    membership: Membership,
    stage: str,
    form_of: FormOf,
    template: str,
    context: Callable[[Study, StageForm], Any],
) -> HttpResponse:
    """Show the page of a stage, or store what is posted and answer; `context` adds what its template needs."""
    study, is_draft = membership.study, membership.study.status == StudyStatus.DRAFT
    may_edit = membership.may_change and is_draft
    is_auto = HEADER in request.headers
    form = form_of(study, None)
    shown: dict[str, Any] = {}
    if request.method == "POST" and "step" in request.POST and may_edit:
        form, shown = form_of(study, request.POST), {"is_new": True}  # a row is added or removed; nothing is stored
    elif request.method == "POST":
        if not may_edit:
            if is_auto:
                return JsonResponse({"status": REFUSED, "reason": READ_ONLY})
            messages.error(request, READ_ONLY)
            return redirect(STAGE_OF[stage].url(study.slug))
        outcome = save_posted(study, form_of, request.POST, request.user)
        if is_auto:
            return JsonResponse(outcome.as_json())
        if outcome.status == SAVED:
            return _onward(request, membership, stage)
        form, shown = outcome.form, {"outcome": outcome, "revision": outcome.revision}
    if not may_edit:
        form.freeze(may_amend=membership.may_change and study.status in RUNNING and study.archived_at is None)
    page = {
        "form": form,
        "revision": form_of(study, None).revision() if may_edit else "",
        "may_edit": may_edit,
        **shown,
        **context(study, form),
    }
    return study_page(request, membership, template, page, tab=stage)


def _onward(request: HttpRequest, membership: Membership, stage: str) -> HttpResponse:
    keys = list(STAGE_OF)
    following = keys[min(keys.index(stage) + 1, len(keys) - 1)] if "next" in request.POST else stage
    if following == stage:
        messages.success(request, "Saved.")
        return redirect(request.get_full_path())
    return redirect(STAGE_OF[following].url(membership.study.slug))
