"""The launch, which freezes the design, and what follows it: pause, resume, close."""

from __future__ import annotations

import itertools
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from catalog.selectors.attributes import attribute_kinds
from catalog.selectors.search import search_items
from core.errors import ArtefactError, ParallaxError, ParameterError, StorageUnavailable
from core.field_problems import FieldProblems, Problem
from core.provenance import CODE_VERSION, derived_seed, digest_of, versions
from core.transitions import move
from evaluation.models import RemoteRecommender
from evaluation.services.remote_lists import UNREACHABLE
from studies.allocation.assignment.quotas import max_admitted
from studies.allocation.selectors.allocations import n_left_out, n_slots
from studies.allocation.selectors.assignment_seed import is_seed_known, seed_commitment
from studies.allocation.services.sequences import orders_of
from studies.allocation.services.slots import locked_study
from studies.design.presets.loader import check_design
from studies.design.selectors.available_models import report_problems
from studies.design.selectors.factors import crossing_problem
from studies.design.selectors.launch_overview import (
    BEHAVIOUR,
    CONDITIONS,
    FLOW,
    PARTICIPANTS,
    PLAN,
    QUESTIONS,
    TEXTS,
    OpenPoint,
    language_points,
)
from studies.design.selectors.placeholders import asked_questions, filled
from studies.design.selectors.stated_facts import stated_facts
from studies.design.selectors.texts import language_name, languages_in_translation
from studies.design.selectors.versions import consent_texts, current_consent, frozen_tests
from studies.design.services.archiving import refuse_archived
from studies.design.services.canaries import canary_lists, remote_conditions, usual_seconds
from studies.design.services.condition_serving import recommend_in
from studies.design.services.explaining import explanation_problems
from studies.design.services.list_coverage import coverage_problems
from studies.effects import check_primary
from studies.enums import STUDY_MOVES, Mode, StudyStatus
from studies.instrument.flow import questionnaire_of
from studies.instrument.questionnaires.kinds import Number
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.models import Condition, ConsentVersion, Study, StudyVersion
from studies.recruitment.panels.exits import code_problems
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.settings import TRIAL, USED
from studies.usage_data import choice_problem, is_usage, order_problem

logger = logging.getLogger(__name__)

VARIED = ("presentation", "levels")  # in the design only where they say something: older designs keep their hash
# Placeholders that state how many items a list has.
OF_LISTS = re.compile(r"\{(?:list_length|recommended_items|recommendations)\}", re.IGNORECASE)
# The stages of the settings that are not about the flow.
SETTINGS_OF = {
    PARTICIPANTS: ("method", "minimisation_probability", "block_multiples", "strata", "merge_below", "quotas"),
    PLAN: ("primary", "plan", "effect", "hypothesis", "quality"),
    TEXTS: ("languages", "item_noun"),
}


def frozen_plan(study: Study) -> dict[str, Any]:
    """The analysis plan in full: what the design names of it, with what follows from the run."""
    return {
        **study.design.plan.in_full(),
        "tests": frozen_tests(study),
        "primary": study.settings.get("primary"),
        "list_length": study.design.longest_list,
        "n": study.run.n,
        "profile_lengths": list(study.run.profile_lengths),
    }


def design_snapshot(study: Study) -> dict[str, Any]:
    """Everything that the design hash is over: what a participant could notice, and what decides results.

    A study launched before plans were frozen has none in its settings, and none in its snapshot.
    """
    sequences = [
        {"label": sequence.label, "occasions": sequence.occasions, "target": sequence.target}
        for sequence in study.sequences.order_by("position")
    ]
    return {
        "format": 1,
        "template": study.template,
        "dataset": study.dataset_version.content_hash,
        "run": study.run.inputs_hash,
        "conditions": [
            {
                "label": condition.label,
                "algorithm": condition.model.algorithm,
                "params": condition.model.params,
                "model": condition.model_digest,
                "target": condition.target,
                **{name: value for name in VARIED if (value := getattr(condition, name))},
            }
            for condition in study.conditions.select_related("model").order_by("position")
        ],
        **({"sequences": sequences} if sequences else {}),
        "questionnaire": study.questionnaire,
        "texts": study.texts,
        "settings": {name: value for name, value in study.settings.items() if name not in TRIAL},
        "primary": study.settings.get("primary"),
        **({"plan": frozen_plan(study)} if "plan" in study.settings else {}),
        "seed": study.seed,
        # The hash promises the secret seed without telling it. A known seed is the one above.
        **({} if is_seed_known(study) else {"assignment_seed_sha256": seed_commitment(study)}),
    }


def draft_snapshot(study: Study) -> dict[str, Any]:
    """The design of a draft as a launch would freeze it now."""
    draft = Study.objects.select_related("run", "dataset_version").get(pk=study.pk)
    draft.settings = with_defaults(draft)
    return design_snapshot(draft)


def with_defaults(study: Study) -> dict[str, Any]:
    """The settings with the default of each that a draft older than the setting does not have."""
    design = study.design
    settings = {**study.settings, "plan": design.plan.in_full()}
    if is_usage(study.dataset_version) and not design.is_choice:
        settings["taken_from"] = design.lowest_taken
    if "{minutes}" in json.dumps(study.texts):
        settings["stated_minutes"] = stated_facts(study).minutes
    return settings


def model_problems(study: Study) -> list[str]:
    """What keeps the conditions' models from being used, in sentences: each makes lists as for a participant.

    A service that does not answer is asked once, however many conditions it has: a page waits for this.
    """
    problems, silent = [], set()
    profiles = _trial_profiles(study)
    n_before = n_left_out(study) * study.design.longest_list  # items of a person's earlier lists
    scale = study.design.scale.scale
    expected = (
        "chosen items"
        if study.design.is_choice
        else f"ratings from {scale.low:g} to {scale.high:g}, as participants give them"
    )
    for condition in study.conditions.select_related("model").order_by("position"):
        if condition.model.digest != condition.model_digest:
            problems.append(f"{condition.label}: its model is no longer the one that the study pinned.")
            continue
        if condition.model_digest in silent:
            problems.append(f"{condition.label}: its service does not answer, as above.")
            continue
        try:
            for ratings in profiles:
                length = study.design.listed_in(condition.shown) + n_before
                served = recommend_in(study=study, condition=condition, ratings=ratings, n=length)
                if len(served.items) < length:
                    raise ParallaxError("model.short_list", f"The list has {len(served.items)} of {length} items.")
        except (ArtefactError, StorageUnavailable, OSError) as problem:
            problems.append(f"{condition.label}: {problem}")
        except Exception as problem:  # an algorithm may be anybody's, and end in any error
            logger.exception("no list study=%s condition=%s", study.slug, condition.label)
            if getattr(problem, "code", "") == UNREACHABLE:
                silent.add(condition.model_digest)
            problems.append(
                f"{condition.label}: no recommendations for a profile of {len(profiles[0])} {expected}. "
                f"{str(problem).rstrip('.')}. Evaluate again without this algorithm, or with a corrected version of "
                "it, and create the study on that run."
            )
    return problems


def _trial_profiles(study: Study) -> list[dict[int, int]]:
    """Items that a participant would be shown first, as they choose or rate them.

    Ratings are of all points, and on usage data in a last profile none is taken. Where participants decide how many
    items they rate, there is a profile of the fewest and one of the most.
    """
    counts = study.design.items_asked
    shown = search_items(
        study.dataset_version,
        order=study.design.item_order,
        seed=derived_seed(study.seed, "launch"),
        limit=counts.most,
    )
    indexes = [item.index for item in shown.items]
    lengths = dict.fromkeys((counts.fewest, counts.most))
    if study.design.is_choice:
        return [dict.fromkeys(indexes[:length], USED) for length in lengths]
    points = study.design.scale.points
    profiles = [dict(zip(indexes[:length], itertools.cycle(reversed(points)), strict=False)) for length in lengths]
    if is_usage(study.dataset_version):
        profiles.append(dict.fromkeys(indexes[: counts.fewest], points[0]))
    return profiles


def _quota_problems(study: Study, planned: int) -> list[str]:
    quotas = study.design.quotas
    problems = []
    for question in questionnaire_of(study).about:
        answers: list[Any] = [choice.value for choice in question.choices]
        if (
            isinstance(question, Number)
            and not question.decimals
            and question.minimum is not None
            and question.maximum is not None
        ):
            answers = list(range(question.minimum, question.maximum + 1))
        answers = [answer for answer in answers if question.admits_value(answer)]
        most = max_admitted(quotas, question.key, answers)
        if answers and question.required and most is not None and most < planned:
            problems.append(
                f"The quotas by {question.key!r} let in {most:,} participants, and the conditions are to have "
                f"{planned:,}: the study could never be full."
            )
    return problems


def launch_problems(study: Study) -> list[str]:
    """What keeps the study from being launched, in sentences; empty when nothing does."""
    return [point.text for point in launch_findings(study)]


def launch_findings(study: Study) -> list[OpenPoint]:
    """As `launch_problems`, each with the stage and the field where it is solved."""
    points, can_serve = _findings(study)
    if can_serve:
        # Only models that can be used can serve everyone and be explained.
        of_models = model_problems(study) or [*coverage_problems(study), *explanation_problems(study)]
        points = [*points, *(OpenPoint(CONDITIONS, text, "models") for text in of_models)]
    return points


def design_findings(study: Study) -> list[OpenPoint]:
    """As `launch_findings`, without opening the models, which takes seconds."""
    return _findings(study)[0]


def _findings(study: Study) -> tuple[list[OpenPoint], bool]:
    """The problems of the design, and whether it is sound enough for its models to make lists."""
    points = [
        OpenPoint(PLAN, text, "objective")
        if text.startswith("The primary metric")
        else OpenPoint(CONDITIONS, text, "models")
        for text in report_problems(study, study.design.primary.objective)
    ]
    conditions = list(study.conditions.select_related("model").order_by("position"))
    if len(conditions) < 2:
        points.append(OpenPoint(CONDITIONS, "A study compares at least two conditions.", "models"))
    for condition in conditions:
        if condition.target < 1:
            text = f"{condition.label} needs a target of at least one participant."
            points.append(OpenPoint(PARTICIPANTS, text, "per_condition"))
    try:
        points += language_points(study)
        lacking = languages_in_translation(study)
        check_design(settings=study.settings, questionnaire=study.questionnaire, texts=study.texts, translating=lacking)
    except QuestionnaireProblems as problem:
        return [*points, OpenPoint(QUESTIONS, str(problem))], False
    except FieldProblems as wrong:
        return [*points, *(_setting_point(problem) for problem in wrong.problems)], False
    except ParameterError as problem:
        stage = TEXTS if str(problem).startswith("The texts in") else PLAN
        return [*points, OpenPoint(stage, str(problem))], False
    points += _points_of_lists(study, conditions)
    for text in not_in_consent(study):
        fix = {"action": "Add a sentence", "fix": BEHAVIOUR} if "{recorded_behaviour}" in text else {}
        points.append(OpenPoint(TEXTS, text, f"consent_{study.design.languages[0]}", **fix))
    if not_crossed := crossing_problem(study):
        points.append(OpenPoint(CONDITIONS, not_crossed, "models"))
    if len(study.design.list_lengths) > 1 and OF_LISTS.search(json.dumps([study.texts, study.questionnaire])):
        text = (
            f"Texts or questions state the number of recommendations, and lists have {study.design.listed} items by "
            "condition. Reword them without {list_length}, {recommended_items} and {recommendations}."
        )
        points.append(OpenPoint(TEXTS, text))
    version = study.dataset_version
    known = attribute_kinds(version) if study.design.carousel_kinds else []
    for kind in sorted(study.design.carousel_kinds.difference(known)):
        text = (
            f"The items have no features of the kind {kind!r} for a carousel; they have {', '.join(known) or 'none'}."
        )
        points.append(OpenPoint(CONDITIONS, text, "models"))
    if refused := choice_problem(study.design, version) or order_problem(study.design, version):
        return [*points, OpenPoint(FLOW, refused, "elicitation")], False
    recruiting = recruiting_of(study)
    wrong_codes = code_problems(recruiting.exits, recruiting.panel)
    points += [OpenPoint(PARTICIPANTS, text, "exits", action="Enter the code") for text in wrong_codes]
    try:
        check_primary(study.design.primary, conditions)
    except FieldProblems as differing:
        points += [OpenPoint(PLAN, problem.message, "primary_test") for problem in differing.problems]
    planned = n_slots(study)
    points += [OpenPoint(PARTICIPANTS, text, "quotas") for text in _quota_problems(study, planned)]
    if too_few := _item_problem(study):
        return [*points, OpenPoint(FLOW, too_few, "ratings_asked")], False
    return points, True


def _points_of_lists(study: Study, conditions: Sequence[Condition]) -> Iterator[OpenPoint]:
    """What keeps each person from meeting several lists."""
    lists = study.design.flow.lists
    if not lists.is_several:
        return
    try:
        orders_of(lists, len(conditions))
    except ParameterError as problem:
        text = f"{problem} Choose other conditions, or show lists in another way."
        yield OpenPoint(FLOW, text, "shown")
    if len({condition.target for condition in conditions}) > 1:
        targets = ", ".join(f"{condition.label} {condition.target:,}" for condition in conditions)
        text = f"Each participant meets every condition, and targets differ: {targets}. Give all the same target."
        yield OpenPoint(PARTICIPANTS, text, "per_condition")
    if study.design.interviewers == "nested":
        text = "Interviewers run one condition each, and participants meet several. Cross interviewers with conditions."
        yield OpenPoint(PARTICIPANTS, text, "interviewers")
    if remote := ", ".join(condition.label for condition in remote_conditions(study)):
        text = (
            f"Remote recommenders make no lists for studies with several for each participant: {remote}. Choose models "
            "of a run, or show one list."
        )
        yield OpenPoint(CONDITIONS, text, "models")


def not_in_consent(study: Study) -> list[str]:
    """Which consent texts do not name who runs a remote recommender and gets the ratings, do not quote a question
    whose answers they get, or do not say which behaviour is recorded.
    """
    names = {condition.model.provenance["service"] for condition in remote_conditions(study)}
    services = RemoteRecommender.objects.filter(name__in=names)
    sent = [question for question in asked_questions(study).about if question.key in study.design.sent_answers]
    problems = []
    for language, texts in consent_texts(study).items():
        consent = filled(texts["consent"], study.design, language)
        problems += [
            f"The consent text in {language_name(language)} does not name {service.operator}, who runs the recommender "
            f"{service.name} and gets the ratings of participants. Add the name."
            for service in services
            if service.operator not in consent
        ]
        problems += [
            f"The consent text in {language_name(language)} does not say that answers to {question.key} are sent to "
            f"remote recommenders. Quote the question in it: {question.text.get(language, '')}"
            for question in sent
            if services and question.text.get(language, "").casefold() not in consent.casefold()
        ]
        if study.design.recorded and "{recorded_behaviour}" not in texts["consent"].casefold():
            words = filled("{recorded_behaviour}", study.design, language)
            problems.append(
                f"The consent text in {language_name(language)} does not say which behaviour is recorded. Write "
                f"{{recorded_behaviour}} in it: participants then read “{words}”."
            )
    return problems


def _setting_point(problem: Problem) -> OpenPoint:
    name = str(problem.path[0]) if problem.path else ""
    stage = next((stage for stage, names in SETTINGS_OF.items() if name in names), FLOW)
    return OpenPoint(stage, f"The setting {problem}", name)


def _item_problem(study: Study) -> str:
    counts = study.design.items_asked
    listed = study.design.longest_list * (1 + n_left_out(study))
    needed = counts.most + listed
    n_items = study.dataset_version.n_items
    if n_items >= needed:
        return ""
    return (
        f"The dataset has {n_items} items; {'choosing' if study.design.is_choice else 'rating'} "
        f"{counts.most} and recommending {listed} others needs "
        f"{needed}. Ask for fewer known items or recommend fewer."
    )


def launch_study(*, study: Study, actor: Any = None, why: str = "") -> StudyVersion:
    """Check everything, freeze the design under its hash, and open the study.

    Raises `study.cannot_launch` with every problem in `extra["problems"]`, or `studies.not_live` where the
    study is no draft.
    """
    current = Study.objects.select_related("run", "dataset_version").get(pk=study.pk)
    refuse_archived(current)
    # The models are opened before the transaction: that takes seconds, and writes nothing.
    problems = launch_problems(current) if current.status == StudyStatus.DRAFT else []
    if problems:
        raise ParallaxError(
            "study.cannot_launch",
            "The study cannot be launched yet. " + " ".join(problems),
            {"problems": problems},
        )
    canaries, seconds = _canaries(current)
    version = _frozen(current.pk, actor, why, canaries, usual_seconds(seconds))
    study.refresh_from_db()
    logger.info("launched study=%s hash=%s", study.slug, study.design_hash)
    return version


def _canaries(study: Study) -> tuple[dict[int, list[Any]], list[float]]:
    """What each remote recommender answers to the canary profiles, by condition, and the seconds of all answers."""
    canaries: dict[int, list[Any]] = {}
    all_seconds: list[float] = []
    for condition in remote_conditions(study):
        canaries[condition.pk], seconds = canary_lists(study, condition)
        all_seconds += seconds
    return canaries, all_seconds


@transaction.atomic
def _frozen(
    study_id: int, actor: Any, why: str, canaries: Mapping[int, list[Any]], preparation_seconds: float
) -> StudyVersion:
    current = locked_study(study_id)  # what is frozen is what stands now
    current.settings = with_defaults(current)
    for condition_id, lists in canaries.items():
        Condition.objects.filter(pk=condition_id).update(canaries=lists)
    if canaries and current.design.preparation_seconds is None:
        current.settings["preparation_seconds"] = preparation_seconds
    snapshot = design_snapshot(current)
    design_hash = digest_of(snapshot)
    move(
        current,
        to=StudyStatus.LIVE,
        allowed={StudyStatus.DRAFT: STUDY_MOVES[StudyStatus.DRAFT]},
        actor=actor,
        reason=why or "Launched.",
        # Versions are facts of the launch and no part of the design: an update does not make it another study.
        facts={"design_hash": design_hash, "code": CODE_VERSION, "versions": versions()},
        settings=current.settings,
        design_hash=design_hash,
        launched_at=timezone.now(),
    )
    consent = store_consent(study=current, actor=actor, why=why or "Launched.")
    version = store_version(study=current, snapshot=snapshot, actor=actor, why=why)
    # The trial walked this very design: any change since would have removed it.
    trial = current.participants.filter(mode=Mode.SIMULATED, version=None)
    trial.update(version=version, consent_version=consent)
    return version


def pause_study(*, study: Study, actor: Any = None, reason: str = "") -> Study:
    """Take no new participants; those under way keep their answers. Raises `studies.not_paused`, `study.archived`."""
    refuse_archived(study)
    move(study, to=StudyStatus.PAUSED, allowed=STUDY_MOVES, actor=actor, reason=reason or "Paused.")
    return study


def resume_study(*, study: Study, actor: Any = None) -> Study:
    """Open a paused study again, once its models can be used.

    Raises `study.cannot_resume` with the problems, `studies.not_live` where the study is not paused, `study.archived`.
    """
    refuse_archived(study)
    if study.status == StudyStatus.PAUSED and (problems := model_problems(study)):
        raise ParallaxError(
            "study.cannot_resume",
            "The study stays paused: " + " ".join(problems),
            {"problems": problems},
        )
    move(
        study,
        to=StudyStatus.LIVE,
        allowed={StudyStatus.PAUSED: STUDY_MOVES[StudyStatus.PAUSED]},
        actor=actor,
        reason="Resumed.",
    )
    return study


def close_study(*, study: Study, actor: Any = None) -> Study:
    """End the study for good: no answers are taken any more. Raises `studies.not_closed`, `study.archived`."""
    refuse_archived(study)
    move(
        study,
        to=StudyStatus.CLOSED,
        allowed=STUDY_MOVES,
        actor=actor,
        reason="Closed.",
        facts={} if is_seed_known(study) else {"assignment_seed": study.assignment_seed},  # revealed from now on
        closed_at=timezone.now(),
    )
    return study


def store_version(*, study: Study, snapshot: dict[str, Any], actor: Any, why: str) -> StudyVersion:
    """Store a design under the study's next number; the caller holds the study's lock and stores its hash."""
    number, design_hash = study.versions.count() + 1, study.design_hash
    return StudyVersion.objects.create(
        study=study, number=number, design_hash=design_hash, snapshot=snapshot, made_by=actor, why=why
    )


def store_consent(*, study: Study, actor: Any = None, why: str = "") -> ConsentVersion:
    """Store the study's consent text as its next version, or return the newest where it is the same.

    The caller holds the study's lock.
    """
    texts = consent_texts(study)
    digest = digest_of(texts)
    newest = current_consent(study)
    if newest is not None and newest.digest == digest:
        return newest
    number = 1 if newest is None else newest.number + 1
    return ConsentVersion.objects.create(study=study, number=number, texts=texts, digest=digest, made_by=actor, why=why)
