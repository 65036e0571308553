"""The questionnaire as a YAML document: export, and import after a look at what would change."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from core.errors import ParallaxError
from core.provenance import digest_of
from studies.console.forms.questionnaire_parts import PART_LABELS, ImportForm
from studies.console.views.questionnaires import back_to_list, may_edit
from studies.console.views.workspace import study_page
from studies.design.selectors.launch_overview import QUESTIONS
from studies.design.services import questionnaires as service
from studies.enums import READERS
from studies.instrument.questionnaires.changes import changes_between
from studies.instrument.questionnaires.document import write_document
from studies.team.permissions import FORM, OWNERS, Membership, for_members

NAMES = {**PART_LABELS, "attention": "Attention checks"}


@for_members(READERS)
def questionnaire_file(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The questionnaire as a YAML document."""
    text = write_document(membership.study.questionnaire)
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="study-{membership.study.slug}_questionnaire.yaml"'
    return response


@for_members(OWNERS, FORM)
def questionnaire_import(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Check a YAML document, show what would change, and replace the questionnaire."""
    study = membership.study
    if not may_edit(membership):
        messages.error(request, "The design was frozen at the launch and cannot be changed any more.")
        return back_to_list(membership)
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        return _shown(request, membership, {"form": form})
    text = form.cleaned_data["document"]
    base = digest_of(study.questionnaire)
    problems: list[str] = []
    is_confirmed = "replace" in request.POST and not form.cleaned_data["file"]
    try:
        if is_confirmed and form.cleaned_data["base"] == base:
            service.import_questionnaire(study=study, text=text, actor=request.user)
            return back_to_list(membership)
        different = changes_between(study.questionnaire, service.checked_document(study=study, text=text))
        changes = [
            {"change": change, "block": NAMES.get(change.block, change.block), "fields": ", ".join(change.fields)}
            for change in different
        ]
    except ParallaxError as refusal:
        problems, changes = refusal.problems, None
    if is_confirmed and not problems:
        problems = ["The questionnaire has changed since the document was checked. Look at the changes again."]
    checked = ImportForm(initial={"document": text, "base": base})
    return _shown(request, membership, {"form": checked, "problems": problems, "changes": changes, "is_checked": True})


def _shown(request: HttpRequest, membership: Membership, context: dict[str, Any]) -> HttpResponse:
    return study_page(request, membership, "console/studies/questionnaire_import.html", context, tab=QUESTIONS)
