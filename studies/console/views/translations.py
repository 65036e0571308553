"""The texts of the questionnaire in two languages, side by side."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from catalog.item_types import FALLBACK_LANGUAGE
from core.errors import ParallaxError
from studies.console.forms.translations import TranslationForm
from studies.console.views.outcomes import warn_of_numbers
from studies.console.views.questionnaires import languages_of, may_edit
from studies.console.views.workspace import QUESTIONNAIRE, study_page
from studies.design.selectors.placeholders import item_words
from studies.design.selectors.texts import interface_languages, language_name
from studies.design.services import questionnaires as service
from studies.instrument.questionnaires.translation import texts_between
from studies.models import Study
from studies.team.permissions import READERS, Seat, seated


def _targets(study: Study) -> list[str]:
    """Languages to translate into: those of the study after the first, then the others that pages are translated to."""
    source, *offered = languages_of(study)
    return [*offered, *(code for code in interface_languages() if code != source and code not in offered)]


@require_http_methods(["GET", "HEAD", "POST"])
@seated(READERS)
def questionnaire_translations(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Every text of the questionnaire beside its translation; owners of a draft can change the translations."""
    study = seat.study
    source, targets = languages_of(study)[0], _targets(study)
    chosen = request.GET.get("to", "")
    language = chosen if chosen in targets else next(iter(targets), "")
    consumed = item_words(study.settings, FALLBACK_LANGUAGE).consumed
    texts = texts_between(study.questionnaire, source, language, consumed=consumed) if language else []
    form = TranslationForm(texts, language, request.POST if request.method == "POST" else None)
    if request.method == "POST" and may_edit(seat) and form.is_valid():
        try:
            service.save_translation(study=study, language=language, texts=form.texts(), actor=request.user)
        except ParallaxError as refusal:
            for line in refusal.problems:
                form.add_error(None, line)
        else:
            messages.success(request, f"The translation into {language_name(language)} is saved.")
            warn_of_numbers(request, study)
            return redirect(f"{reverse('studies:questionnaire-translations', args=[study.slug])}?to={language}")
    context = {
        "form": form,
        "may_edit": may_edit(seat),
        "source": (source, language_name(source)),
        "language": (language, language_name(language)),
        "first_open": next((part.key for part in form.parts if part.n_missing), ""),
        "n_missing": sum(text.is_missing for text in texts),
        "targets": [(code, language_name(code), _n_missing(study, source, code)) for code in targets],
    }
    return study_page(request, seat, "console/studies/translations.html", context, tab=QUESTIONNAIRE)


def _n_missing(study: Study, source: str, language: str) -> int:
    return sum(text.is_missing for text in texts_between(study.questionnaire, source, language))
