"""The texts of the questionnaire in two languages, side by side."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from catalog.item_types import FALLBACK_LANGUAGE
from core.outcomes import refusals_in
from studies.console.forms.translations import TranslationForm
from studies.console.views.outcomes import warn_of_numbers
from studies.console.views.questionnaires import may_edit
from studies.console.views.workspace import study_page
from studies.design.selectors.launch_overview import QUESTIONS
from studies.design.selectors.placeholders import item_words
from studies.design.selectors.texts import interface_languages, language_name
from studies.design.services import questionnaires as service
from studies.enums import READERS
from studies.instrument.questionnaires.wording import n_missing, wordings_of
from studies.team.permissions import FORM, Membership, for_members


@for_members(READERS, FORM)
def questionnaire_translations(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Every text of the questionnaire beside its translation; owners of a draft can change the translations."""
    study = membership.study
    source, *own = study.design.languages
    # Those that pages are translated to come after the study's own.
    targets = [*own, *(code for code in interface_languages() if code != source and code not in own)]
    chosen = request.GET.get("to", "")
    language = chosen if chosen in targets else next(iter(targets), "")
    consumed = item_words(study.design, FALLBACK_LANGUAGE).consumed
    texts = wordings_of(study.questionnaire, consumed=consumed) if language else ()
    form = TranslationForm(texts, source, language, request.POST if request.method == "POST" else None)
    if request.method == "POST" and may_edit(membership) and form.is_valid():
        with refusals_in(form):
            service.save_translation(study=study, language=language, texts=form.texts(), actor=request.user)
            messages.success(request, f"The translation into {language_name(language)} is saved.")
            warn_of_numbers(request, study)
            return redirect(f"{reverse('studies:questionnaire-translations', args=[study.slug])}?to={language}")
    context = {
        "form": form,
        "may_edit": may_edit(membership),
        "source": (source, language_name(source)),
        "language": (language, language_name(language)),
        "first_open": next((part.key for part in form.parts if part.n_missing), ""),
        "n_missing": sum(part.n_missing for part in form.parts),
        "targets": [(code, language_name(code), n_missing(study.questionnaire, source, code)) for code in targets],
    }
    return study_page(request, membership, "console/studies/translations.html", context, tab=QUESTIONS)
