"""What may change of a study after its launch: each change is a new version of the design, with who, when and why.

Targets may grow, and texts may be corrected, the contact among them. What answers mean stays: a study that asks
something else is another study.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction

from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.provenance import digest_of
from core.transitions import record
from studies.design.presets.loader import check_design
from studies.design.services.archiving import refuse_archived
from studies.design.services.launch import design_snapshot, locked_design
from studies.design.services.questionnaires import parsed_document
from studies.design.services.texts import NOTE_TEXTS, with_texts
from studies.enums import StudyStatus
from studies.instrument.questionnaires.wording import other_than_wording, reworded
from studies.models import Study, StudyVersion

logger = logging.getLogger(__name__)

RUNNING = (StudyStatus.LIVE, StudyStatus.PAUSED)


def locked_running(study: Study, *, code: str, words: str) -> Study:
    """Read a running study under its lock; raises `study.archived`, and `code` with `words` where it does not run."""
    current = locked_design(study.pk)
    refuse_archived(current)
    if current.status not in RUNNING:
        raise NotAllowedInState(code, words, {"status": current.status})
    return current


def next_version(*, study: Study, why: str, actor: Any, reason: str, facts: Mapping[str, Any] | None = None) -> int:
    """Freeze the design as it stands now under the next number, log it, and return the number.

    The caller holds the study's lock and has stored what changed.
    """
    snapshot = design_snapshot(study)
    study.design_hash = digest_of(snapshot)
    study.save(update_fields=["design_hash", "updated_at"])
    number = study.versions.count() + 1
    StudyVersion.objects.create(
        study=study, number=number, design_hash=study.design_hash, snapshot=snapshot, made_by=actor, why=why
    )
    logged = {"design_version": number, "design_hash": study.design_hash, **(facts or {})}
    record(study, reason=f"{reason}: {why}", actor=actor, **logged)
    logger.info("amended study=%s version=%s hash=%s", study.slug, number, study.design_hash)
    return number


@transaction.atomic
def _amended(study: Study, why: str, actor: Any, change: Callable[[Study], str]) -> int:
    reason_given = why.strip()
    if not reason_given:
        raise ParallaxError("amend.no_reason", "Say why the design is changed: the record keeps it.")
    current = locked_running(
        study,
        code="amend.not_running",
        words="A draft is changed with its design, and a closed study stays as it is; duplicate it to change it.",
    )
    reason = change(current)
    number = next_version(study=current, why=reason_given, actor=actor, reason=reason)
    study.refresh_from_db()
    return number


def extend_targets(*, study: Study, targets: Mapping[str, int], why: str, actor: Any = None) -> int:
    """Let conditions have more participants than planned; return the number of the design's new version.

    `targets` are by the condition's label; one that is not named keeps its own. Raises `amend.no_reason`,
    `amend.not_running`, `amend.unknown_condition`, `amend.lower_target`, `amend.same`, `study.archived`.
    """

    def change(current: Study) -> str:
        conditions = {condition.label: condition for condition in current.conditions.order_by("position")}
        if unknown := sorted(set(targets) - set(conditions)):
            raise ParallaxError(
                "amend.unknown_condition",
                f"This study has no condition {unknown[0]!r}; it has {', '.join(conditions)}.",
            )
        extended = []
        for label, target in targets.items():
            condition = conditions[label]
            if target < condition.target:
                raise ParallaxError(
                    "amend.lower_target",
                    f"{label} was planned with {condition.target} participants. A target can grow, and not shrink: "
                    "close the study when enough have taken part.",
                )
            if target > condition.target:
                extended.append(f"{label} {condition.target} to {target}")
                condition.target = target
                condition.save(update_fields=["target"])
        if not extended:
            raise ParallaxError("amend.same", "No target is higher than before, so there is no new version.")
        return f"Targets extended ({', '.join(extended)})"

    return _amended(study, why, actor, change)


def reword_questionnaire(*, study: Study, text: str, why: str, actor: Any = None) -> int:
    """Ask the same questions in other words, from a YAML document; return the number of the design's new version.

    Raises as `replace_wording`; in `questionnaire.problems` each has its line and place.
    """
    return replace_wording(study=study, questionnaire=parsed_document(text), why=why, actor=actor)


def replace_wording(*, study: Study, questionnaire: Mapping[str, Any], why: str, actor: Any = None) -> int:
    """Ask the same questions in other words; return the number of the design's new version.

    Raises `amend.no_reason`, `amend.not_running`, `amend.other_questions` with what else differs, `amend.same`,
    `questionnaire.problems`, `study.archived`.
    """

    def change(current: Study) -> str:
        if problems := other_than_wording(current.questionnaire, questionnaire):
            raise ParallaxError(
                "amend.other_questions",
                "Answers given before would mean something else, so only words can change while a study runs. "
                f"{' '.join(problems)} Duplicate the study to ask other questions.",
                {"problems": problems},
            )
        keys = reworded(current.questionnaire, questionnaire)
        if not keys:
            raise ParallaxError("amend.same", "The questionnaire says the same as before, so there is no new version.")
        try:
            check_design(settings=current.settings, questionnaire=questionnaire, texts=current.texts)
        except ParameterError as problem:
            raise ParallaxError("questionnaire.problems", str(problem), {"problems": [str(problem)]}) from problem
        current.questionnaire = dict(questionnaire)
        current.save(update_fields=["questionnaire", "updated_at"])
        return f"Questions reworded ({', '.join(keys)})"

    return _amended(study, why, actor, change)


def amend_texts(*, study: Study, texts: Mapping[str, Mapping[str, Any]], why: str, actor: Any = None) -> int:
    """Tell people who say no or come too late something else, or name another contact; return the version's number.

    `texts` are Markdown by language and name; an empty one restores the default. Raises `amend.no_reason`,
    `amend.not_running`, `amend.same`, `study.bad_settings`, `study.archived`.
    """

    def change(current: Study) -> str:
        before, current.texts = current.texts, with_texts(current.texts, texts, names=NOTE_TEXTS)
        edited = [
            f"{name} in {language}"
            for language, own in current.texts.items()
            for name in NOTE_TEXTS
            if own.get(name) != before.get(language, {}).get(name)
        ]
        if not edited:
            raise ParallaxError("amend.same", "The texts say the same as before, so there is no new version.")
        try:
            check_design(settings=current.settings, questionnaire=current.questionnaire, texts=current.texts)
        except ParameterError as problem:
            raise ParallaxError("study.bad_settings", str(problem)) from problem
        current.save(update_fields=["texts", "updated_at"])
        return f"Texts changed ({', '.join(edited)})"

    return _amended(study, why, actor, change)
