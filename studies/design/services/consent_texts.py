"""A consent text changed while a study runs: a new version of it and of the design, with who, when and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core.errors import ParallaxError, ParameterError
from studies.design.presets.loader import UNEVEN_BOXES, check_design, has_even_boxes
from studies.design.selectors.consent import consent_texts
from studies.design.services.amending import locked_running, next_version
from studies.design.services.consent_versions import store_consent
from studies.design.services.texts import CONSENT_TEXTS, with_texts
from studies.models import ConsentVersion, Study


@transaction.atomic
def change_consent(
    *, study: Study, texts: Mapping[str, Mapping[str, Any]], why: str, actor: Any = None
) -> ConsentVersion:
    """Show newcomers another consent text; who has consented before keeps the version they said yes to.

    `texts` are, by language, ``consent`` (Markdown) and ``consent_boxes`` (a list). Raises `consent.no_reason`,
    `consent.not_running`, `consent.same`, `consent.other_boxes`, `study.bad_settings`, `study.archived`.
    """
    reason = why.strip()
    if not reason:
        raise ParallaxError("consent.no_reason", "Say why the consent text is changed: the record keeps it.")
    current = locked_running(
        study,
        code="consent.not_running",
        words="A draft's consent text is changed with its design, and a closed study admits no more participants.",
    )
    before = consent_texts(current)
    current.texts = with_texts(current.texts, texts, names=CONSENT_TEXTS)
    if consent_texts(current) == before:
        raise ParallaxError("consent.same", "The consent text is the same as before, so there is no new version.")
    if not has_even_boxes(current.texts, current.design.languages):
        raise ParallaxError("consent.other_boxes", UNEVEN_BOXES)
    try:
        check_design(settings=current.settings, questionnaire=current.questionnaire, texts=current.texts)
    except ParameterError as problem:
        raise ParallaxError("study.bad_settings", str(problem)) from problem
    current.save(update_fields=["texts", "updated_at"])
    version = store_consent(study=current, actor=actor, why=reason)
    facts = {"consent_version": version.number}
    next_version(study=current, why=reason, actor=actor, reason="Consent text changed", facts=facts)
    study.texts, study.design_hash = current.texts, current.design_hash
    return version
