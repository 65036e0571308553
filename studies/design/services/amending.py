"""What may change of a study after its launch: each change is a new version of the design, with who, when and why.

Targets may grow, and texts may be corrected, the contact and the consent text among them; a closed study may take a
second wave of participants. What answers mean stays: a study that asks something else is another study.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.provenance import digest_of
from core.transitions import move, record
from studies.allocation.selectors.assignment_seed import is_seed_known
from studies.allocation.services.sequences import arrange
from studies.allocation.services.slots import locked_study
from studies.design.presets.loader import UNEVEN_BOXES, check_design, has_even_boxes
from studies.design.selectors.texts import CONSENT_TEXTS, NOTE_TEXTS, with_texts
from studies.design.selectors.versions import consent_texts
from studies.design.services.archiving import refuse_archived
from studies.design.services.launch import design_snapshot, model_problems, not_in_consent, store_consent, store_version
from studies.design.services.questionnaires import parsed_document
from studies.enums import STUDY_MOVES, Mode, ParticipantStatus, StudyStatus
from studies.instrument.questionnaires.wording import other_than_wording, reworded
from studies.models import ConsentVersion, Study
from studies.models.study import new_assignment_seed

logger = logging.getLogger(__name__)

RUNNING = (StudyStatus.LIVE, StudyStatus.PAUSED)


def _stated(why: str, code: str, words: str) -> str:
    if not why.strip():
        raise ParallaxError(code, words)
    return why.strip()


def _locked_running(study: Study, *, code: str, words: str) -> Study:
    current = locked_study(study.pk)
    refuse_archived(current)
    if current.status not in RUNNING:
        raise NotAllowedInState(code, words, {"status": current.status})
    return current


def _require_sound(study: Study, code: str) -> None:
    try:
        check_design(settings=study.settings, questionnaire=study.questionnaire, texts=study.texts)
    except ParameterError as problem:
        raise ParallaxError(code, str(problem), {"problems": [str(problem)]}) from problem


def next_version(*, study: Study, why: str, actor: Any, reason: str, facts: Mapping[str, Any] | None = None) -> int:
    """Freeze the design as it stands now under the next number, log it, and return the number.

    The caller holds the study's lock and has stored what changed.
    """
    snapshot = design_snapshot(study)
    study.design_hash = digest_of(snapshot)
    study.save(update_fields=["design_hash", "updated_at"])
    number = store_version(study=study, snapshot=snapshot, actor=actor, why=why).number
    logged = {"design_version": number, "design_hash": study.design_hash, **(facts or {})}
    record(study, reason=f"{reason}: {why}", actor=actor, **logged)
    logger.info("amended study=%s version=%s hash=%s", study.slug, number, study.design_hash)
    return number


@transaction.atomic
def _amended(study: Study, why: str, actor: Any, change: Callable[[Study], str]) -> int:
    reason_given = _stated(why, "amend.no_reason", "Say why the design is changed: the record keeps it.")
    current = _locked_running(
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
    `amend.not_running`, `amend.unknown_condition`, `amend.lower_target`, `amend.unequal_targets`, `amend.same`,
    `study.archived`.
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
        if current.design.flow.lists.is_several and len({each.target for each in conditions.values()}) > 1:
            raise ParallaxError(
                "amend.unequal_targets",
                "Each participant meets every condition, so all have the same target. Raise all to the same number.",
            )
        arrange(current)
        return f"Targets extended ({', '.join(extended)})"

    return _amended(study, why, actor, change)


def reword_questionnaire(*, study: Study, text: str, why: str, actor: Any = None) -> int:
    """Ask the same questions in other words, from a YAML document; return the number of the design's new version.

    Raises as `replace_wording`; in `questionnaire.problems` each has its line and place.
    """
    return replace_wording(study=study, questionnaire=parsed_document(study, text), why=why, actor=actor)


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
        current.questionnaire = dict(questionnaire)
        _require_sound(current, "questionnaire.problems")
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
        _require_sound(current, "study.bad_settings")
        current.save(update_fields=["texts", "updated_at"])
        return f"Texts changed ({', '.join(edited)})"

    return _amended(study, why, actor, change)


def reopen_study(*, study: Study, why: str, actor: Any = None) -> int:
    """Take participants in a closed study again; return the number of the design's new version.

    The design stays as it was; targets can be extended afterwards. Outcomes could be seen since the close, so they stay
    open, and the record says since when. The retention limits count from the next close. The seed of the assignment was
    revealed at the close, so a new secret one is drawn.

    Raises `reopen.no_reason`, `reopen.not_closed`, `reopen.erased` where the retention limit has erased answers,
    `reopen.models` where a model cannot be used, `study.archived`.
    """
    words = "State the reason: it stays in the record, and in every later report."
    reason = _stated(why, "reopen.no_reason", words)
    refuse_archived(study)
    if study.status == StudyStatus.CLOSED and (problems := model_problems(study)):
        raise ParallaxError("reopen.models", "The study stays closed: " + " ".join(problems), {"problems": problems})
    number = _reopened(study.pk, reason, actor)
    study.refresh_from_db()
    logger.info("reopened study=%s version=%s", study.slug, number)
    return number


@transaction.atomic
def _reopened(study_id: int, why: str, actor: Any) -> int:
    current = locked_study(study_id)
    if current.status != StudyStatus.CLOSED or current.closed_at is None:
        raise NotAllowedInState(
            "reopen.not_closed",
            f"The study is {current.status}. Only a closed study can be reopened.",
            {"status": current.status},
        )
    erased = current.participants.filter(mode=Mode.LIVE, erased_at__isnull=False)
    if erased.exclude(status=ParticipantStatus.WITHDRAWN).exists():
        raise ParallaxError(
            "reopen.erased",
            "The retention limit has erased answers of this study, so a second wave could not be analysed with the "
            "first. Duplicate the study instead.",
        )
    closed_at = current.closed_at
    seeds: dict[str, Any] = {}
    if not is_seed_known(current):
        n_lines = current.allocations.filter(mode=Mode.LIVE).count()
        seeds = {
            "assignment_seed": new_assignment_seed(),
            "earlier_seeds": [*current.earlier_seeds, [n_lines, current.assignment_seed]],
        }
    move(
        current,
        to=StudyStatus.LIVE,
        allowed={StudyStatus.CLOSED: STUDY_MOVES[StudyStatus.CLOSED]},
        actor=actor,
        reason=f"Reopened: {why}",
        facts={"act": "reopened", "closed_at": closed_at.isoformat(), "why": why},
        closed_at=None,
        reopened_at=timezone.now(),
        outcomes_opened_at=current.outcomes_opened_at or closed_at,
        **seeds,
    )
    return next_version(study=current, why=why, actor=actor, reason="Recruitment reopened")


@transaction.atomic
def change_consent(
    *, study: Study, texts: Mapping[str, Mapping[str, Any]], why: str, actor: Any = None
) -> ConsentVersion:
    """Show newcomers another consent text; who has consented before keeps the version they said yes to.

    `texts` are, by language, ``consent`` (Markdown) and ``consent_boxes`` (a list). Raises `consent.no_reason`,
    `consent.not_running`, `consent.same`, `consent.other_boxes`, `consent.unnamed`, `study.bad_settings`,
    `study.archived`.
    """
    reason = _stated(why, "consent.no_reason", "Say why the consent text is changed: the record keeps it.")
    current = _locked_running(
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
    if problems := not_in_consent(current):
        raise ParallaxError("consent.unnamed", " ".join(problems))
    _require_sound(current, "study.bad_settings")
    current.save(update_fields=["texts", "updated_at"])
    version = store_consent(study=current, actor=actor, why=reason)
    facts = {"consent_version": version.number}
    next_version(study=current, why=reason, actor=actor, reason="Consent text changed", facts=facts)
    study.texts, study.design_hash = current.texts, current.design_hash
    return version
