"""A consent text changed while a study runs: a new version of it and of the design, with who, when and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.models import LogEntry
from core.provenance import digest_of
from studies.enums import StudyStatus
from studies.models import ConsentVersion, Study, StudyVersion
from studies.presets.loader import check_design
from studies.selectors.consent import consent_texts
from studies.services.archiving import refuse_archived
from studies.services.consent_versions import keep_consent
from studies.services.launch import design_snapshot


@transaction.atomic
def change_consent(
    *, study: Study, texts: Mapping[str, Mapping[str, Any]], why: str, actor: Any = None
) -> ConsentVersion:
    """Show newcomers another consent text; who has consented before keeps the version they said yes to.

    `texts` are, by language, ``consent`` (Markdown) and ``consent_boxes`` (a list). Raises `consent.no_reason`,
    `consent.not_running`, `consent.same`, `consent.other_boxes`, `study.bad_settings`, `study.archived`.
    """
    said = why.strip()
    if not said:
        raise ParallaxError("consent.no_reason", "Say why the consent text is changed: the record keeps it.")
    current = (
        Study.objects.select_for_update(no_key=True, of=("self",))
        .select_related("run", "dataset_version")
        .get(pk=study.pk)
    )
    refuse_archived(current)
    if current.status not in (StudyStatus.LIVE, StudyStatus.PAUSED):
        raise NotAllowedInState(
            "consent.not_running",
            "A draft's consent text is changed with its design, and a closed study asks nobody any more.",
            {"status": current.status},
        )
    before = consent_texts(current.texts)
    for language, changed in texts.items():
        own = {name: changed[name] for name in ("consent", "consent_boxes") if name in changed}
        current.texts = {**current.texts, language: {**current.texts.get(language, {}), **own}}
    after = consent_texts(current.texts)
    if after == before:
        raise ParallaxError("consent.same", "The consent text is the same as before, so there is no new version.")
    if len({len(own["consent_boxes"]) for own in after.values()}) > 1:
        raise ParallaxError("consent.other_boxes", "Every language needs the same number of boxes to tick.")
    try:
        check_design(settings=current.settings, questionnaire=current.questionnaire, texts=current.texts)
    except ParameterError as problem:
        raise ParallaxError("study.bad_settings", str(problem)) from problem
    snapshot = design_snapshot(current)
    current.design_hash = digest_of(snapshot)
    current.save(update_fields=["texts", "design_hash", "updated_at"])
    number = current.versions.count() + 1
    StudyVersion.objects.create(
        study=current, number=number, design_hash=current.design_hash, snapshot=snapshot, made_by=actor, why=said
    )
    made = keep_consent(study=current, actor=actor, why=said)
    LogEntry.objects.create(
        actor=actor,
        kind="studies.study",
        object_id=current.pk,
        from_status=current.status,
        to_status=current.status,
        reason=f"Consent text changed: {said}",
        facts={"consent_version": made.number, "design_version": number, "design_hash": current.design_hash},
    )
    study.texts, study.design_hash = current.texts, current.design_hash
    return made
