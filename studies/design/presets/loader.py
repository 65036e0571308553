"""Shipped study templates, read and checked."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from catalog.item_types import DEFAULT, item_type
from catalog.item_words import FORMS, GENDERS
from core.errors import ParameterError
from evaluation.reported_kinds import ERRORS, HITS
from studies.allocation.assignment.methods import method_from
from studies.allocation.assignment.quotas import quotas_from
from studies.allocation.assignment.strata import strata_from
from studies.allocation.assignment.traits import with_interviewer
from studies.instrument.flags import thresholds_from
from studies.instrument.questionnaires.core import core_problems
from studies.instrument.questionnaires.schema import (
    CHOICE,
    LIKERT,
    MATRIX,
    MULTIPLE,
    NUMBER,
    OTHER,
    SLIDER,
    YES_NO,
    Question,
    Questionnaire,
    QuestionnaireProblems,
    lacking_wordings,
    questionnaire_from,
)
from studies.instrument.scales import scales_of
from studies.known_items import FEWEST, FIVE_STARS, MOST, MOST_ASKED, SCALE, SCALES, elicitation_scale
from studies.plans import PERCEIVED, REFILL, SCALE_PREFIX, contrast_from, plan_from, smallest_effect_from
from studies.usage_data import ELICITATIONS, SETTING, elicitation_of, is_choice

FOLDER = Path(__file__).parent
COVARIATE_KINDS = (NUMBER, CHOICE, YES_NO, LIKERT, SLIDER)
INTERVIEWERS = ("crossed", "nested")  # with conditions; a design that says nothing has them crossed
ITEM_ORDERS = ("random", "popularity", "title", "strata", "entropy0", "pop-entropy")
MEASURES = PERCEIVED
METRICS = (*HITS, *ERRORS)  # on whole profiles, or on so many ratings: recall@profile5
_METRIC = re.compile(rf"(?:{'|'.join(METRICS)})(?:@profile([1-9]\d{{0,3}}))?")
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")  # within a paragraph
LONGEST_HYPOTHESIS = 4000
LONGEST_NOUN = 40
LONGEST_STRATUM = 120
REQUIRED = (
    "ratings_asked",
    "list_length",
    "item_order",
    "idle_minutes",
    "block_multiples",
    "strata",
    "primary",
    "languages",
)
REQUIRED_TEXTS = ("title", "consent", "consent_boxes", "debriefing", "screened_out", "quota_full", "closed")

UNEVEN_BOXES = "Every language needs the same number of boxes to tick."


@dataclass(frozen=True)
class Preset:
    """A study template: everything of a study's design but its dataset, its models and its numbers.

    A study keeps the version that it was created from.
    """

    key: str
    version: int
    title: str
    description: str
    settings: dict[str, Any]
    questionnaire: dict[str, Any]
    texts: dict[str, Any]


def preset_keys() -> tuple[str, ...]:
    """Names of the shipped templates, in alphabetical order."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def load_preset(key: str) -> Preset:
    """Read a template; ParameterError names the known ones, or what is wrong with its content."""
    if key not in preset_keys():
        raise ParameterError(f"There is no template {key!r}; the templates are {', '.join(preset_keys())}.")
    return copy.deepcopy(_shipped(key))


@functools.cache
def _shipped(key: str) -> Preset:
    data = yaml.safe_load((FOLDER / f"{key}.yaml").read_text(encoding="utf-8"))
    preset = Preset(
        data["key"],
        data["version"],
        data["title"],
        data["description"],
        data["settings"],
        data["questionnaire"],
        {language: _unwrapped(texts) for language, texts in data["texts"].items()},
    )
    check_design(settings=preset.settings, questionnaire=preset.questionnaire, texts=preset.texts)
    return preset


def _unwrapped(texts: Mapping[str, Any]) -> dict[str, Any]:
    """The texts with each paragraph on one line, as people edit them in a field; the file wraps its lines."""
    return {
        name: _LINE_BREAK.sub(" ", text.rstrip("\n")) if isinstance(text, str) else text for name, text in texts.items()
    }


def _whole(settings: Mapping[str, Any], name: str, low: int, high: int) -> None:
    value = settings[name]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParameterError(f"The setting {name} is a whole number from {low} to {high}; got {value!r}.")


def check_design(
    *,
    settings: Mapping[str, Any],
    questionnaire: Mapping[str, Any],
    texts: Mapping[str, Any],
    translating: Collection[str] = (),
) -> None:
    """Refuse settings, questions or texts that a study could not run with; ParameterError says which.

    In languages that are still being translated words may be missing: a draft can be saved so, and not launched.
    """
    missing = [name for name in REQUIRED if name not in settings]
    if missing:
        raise ParameterError(f"The design lacks the settings {', '.join(missing)}.")
    _whole(settings, FEWEST, 1, MOST_ASKED)
    if MOST in settings:
        _whole(settings, MOST, settings[FEWEST], MOST_ASKED)
    _whole(settings, "list_length", 1, 20)
    _whole(settings, "idle_minutes", 1, 60 * 24 * 30)
    _check_elicitation(settings)
    if settings["item_order"] not in ITEM_ORDERS:
        raise ParameterError(f"The order of items is one of {', '.join(ITEM_ORDERS)}; got {settings['item_order']!r}.")
    _check_nouns(settings.get("item_noun", {}))
    item_type(settings.get("item_type", DEFAULT))
    _check_plan(settings)
    thresholds_from(settings)
    parsed = questionnaire_from(questionnaire)
    about = {question.key: question for question in parsed.about}
    _check_assignment(settings, about)
    _check_covariates(settings, about)
    _check_scales(settings, [scale.key for scale in parsed.scales], [scale.key for scale in scales_of(parsed)])
    if not isinstance(settings["languages"], list | tuple) or not settings["languages"]:
        raise ParameterError("A study is offered in at least one language.")
    complete = [language for language in settings["languages"] if language not in translating]
    _check_texts(complete, texts)
    if problems := core_problems(parsed):
        raise QuestionnaireProblems(problems)
    if problems := lacking_wordings(parsed, complete):
        raise QuestionnaireProblems(problems)


def _check_elicitation(settings: Mapping[str, Any]) -> None:
    if elicitation_of(settings) not in ELICITATIONS:
        raise ParameterError(
            f"The elicitation of known items is one of {', '.join(ELICITATIONS)}; got {elicitation_of(settings)!r}."
        )
    if settings.get(SCALE, FIVE_STARS.key) not in SCALES:
        raise ParameterError(f"The setting {SCALE} is one of {', '.join(SCALES)}; got {settings[SCALE]!r}.")
    if SCALE in settings and is_choice(settings):
        raise ParameterError(
            f"The setting {SCALE} is about ratings, and participants of this study choose items without rating them. "
            f"Leave {SCALE} out, or set the elicitation to stars."
        )
    if SETTING in settings:
        scale, value = elicitation_scale(settings).scale, settings[SETTING]
        if isinstance(value, bool) or not isinstance(value, int | float) or not scale.holds(value):
            raise ParameterError(f"The setting {SETTING} is a rating {scale.words()}; got {value!r}.")
        if is_choice(settings):
            raise ParameterError(
                f"The setting {SETTING} is a number of stars, and participants of this study choose items without "
                f"stars. Leave {SETTING} out, or set the elicitation to stars."
            )


def _check_nouns(nouns: Any) -> None:
    if not isinstance(nouns, Mapping) or not all(isinstance(own, Mapping) for own in nouns.values()):
        raise ParameterError(f"The item noun is given by language, each with its forms: {', '.join(FORMS)}.")
    for language, own in nouns.items():
        for name in FORMS:
            word = own.get(name, "")
            if not isinstance(word, str) or len(word) > LONGEST_NOUN or "{" in word:
                raise ParameterError(
                    f"The item noun in {language!r} is a word of at most {LONGEST_NOUN} characters; got {word!r}."
                )
        if own.get("gender", "") not in ("", *GENDERS):
            raise ParameterError(
                f"The gender of the item noun in {language!r} is one of {', '.join(GENDERS)}; got {own['gender']!r}."
            )


def has_even_boxes(texts: Mapping[str, Any], languages: Sequence[str]) -> bool:
    """Whether there are as many boxes to tick in each of the languages."""
    return len({len(texts.get(language, {}).get("consent_boxes", ())) for language in languages}) < 2


def translation_gaps(questionnaire: Mapping[str, Any], texts: Mapping[str, Any], language: str) -> list[str]:
    """What a design still lacks in a language, in sentences: its texts, and the words of its questions and scales."""
    own = texts.get(language, {})
    lacking = [name for name in REQUIRED_TEXTS if not own.get(name)]
    gaps = [f"The texts in {language!r} lack {', '.join(lacking)}."] if lacking else []
    if missing := lacking_wordings(questionnaire_from(questionnaire), [language]):
        gaps.append(
            f"Words of the questionnaire are missing in {language!r}, {len(missing)} in all; the first: "
            f"{missing[0].message}"
        )
    return gaps


def _check_texts(languages: Sequence[str], texts: Mapping[str, Any]) -> None:
    for language in languages:
        own = texts.get(language, {})
        lacking = [name for name in REQUIRED_TEXTS if not own.get(name)]
        if lacking:
            raise ParameterError(f"The texts in {language!r} lack {', '.join(lacking)}.")
        boxes = own["consent_boxes"]
        if not isinstance(boxes, list | tuple) or not all(isinstance(box, str) and box.strip() for box in boxes):
            raise ParameterError(f"The boxes to tick in {language!r} are a list of sentences.")
        wrong = [name for name, text in own.items() if name != "consent_boxes" and not isinstance(text, str)]
        if wrong:
            raise ParameterError(f"The text {wrong[0]} in {language!r} is not text.")
    if not has_even_boxes(texts, languages):
        raise ParameterError(UNEVEN_BOXES)


def metric_profile(objective: Any) -> int:
    """How many ratings of a profile a metric of the plan is measured on, 0 for all; ParameterError where unknown."""
    match = _METRIC.fullmatch(objective) if isinstance(objective, str) else None
    if match is None:
        raise ParameterError(
            f"The primary objective metric is one of {', '.join(METRICS)}, or one of them on short profiles, such as "
            f"recall@profile5; got {objective!r}."
        )
    return int(match[1] or 0)


def _check_plan(settings: Mapping[str, Any]) -> None:
    primary = settings["primary"]
    perceived = primary.get("perceived") if isinstance(primary, Mapping) else None
    if perceived not in MEASURES and not str(perceived).startswith(SCALE_PREFIX):
        raise ParameterError(
            f"The primary perceived variable is one of {', '.join(MEASURES)}, or a planned scale, such as "
            f"{SCALE_PREFIX}trust; got {perceived!r}."
        )
    metric_profile(primary.get("objective"))
    contrast_from(primary)
    smallest_effect_from(primary)
    if perceived not in plan_from(settings).tested:
        raise ParameterError(
            f"The plan leaves out {perceived}, the variable of its primary pair: take it in, or choose another primary "
            "variable."
        )
    refill = settings.get(REFILL, False)
    if not isinstance(refill, bool):
        raise ParameterError(f"The setting {REFILL} is true or false; got {refill!r}.")
    if refill and not plan_from(settings).exclude:
        raise ParameterError(
            "Slots can be refilled only if the plan excludes participants: choose at least one quality flag, or "
            "do not refill."
        )
    effect = settings.get("effect", 0.25)
    if isinstance(effect, bool) or not isinstance(effect, int | float) or not 0.01 <= effect <= 10:
        raise ParameterError(f"The effect to find, Cohen's f, is a number from 0.01 to 10; got {effect!r}.")
    hypothesis = settings.get("hypothesis", "")
    if not isinstance(hypothesis, str) or len(hypothesis) > LONGEST_HYPOTHESIS:
        raise ParameterError(f"The hypothesis is a text of at most {LONGEST_HYPOTHESIS} characters.")


def _check_scales(settings: Mapping[str, Any], scales: Sequence[str], filled: Sequence[str]) -> None:
    for key in plan_from(settings).scales:
        if key not in scales:
            raise ParameterError(f"The plan names the scale {key!r}, which the questionnaire does not have.")
        if key not in filled:
            raise ParameterError(
                f"The plan names the scale {key!r}, and no question belongs to it. Add a question to the scale, or "
                "take the scale out of the plan."
            )


def possible_covariates(questionnaire: Questionnaire) -> list[str]:
    """Keys of the questions before assignment that can be covariates: one number or one choice, of no identity."""
    return [q.key for q in questionnaire.about if q.kind in COVARIATE_KINDS and not q.is_identifying]


def _check_covariates(settings: Mapping[str, Any], about: Mapping[str, Question]) -> None:
    for key in plan_from(settings).covariates:
        question = _question_for(key, about, "A covariate")
        if question.kind not in COVARIATE_KINDS:
            raise ParameterError(
                f"A covariate is one number or one choice, and {key!r} is a question of another kind ({question.kind})."
            )


def _check_assignment(settings: Mapping[str, Any], questions: Mapping[str, Question]) -> None:
    method_from(settings)
    for rule in settings["strata"]:
        question = _question_for(rule.get("question"), questions, "A stratum")
        if question.kind in (MULTIPLE, MATRIX):
            raise ParameterError(f"A stratum is by one answer, and {question.key!r} has several.")
        _check_values(question, [value for group in rule.get("groups", ()) for value in group.get("values", ())])
        if "bands" in rule and question.kind != NUMBER:
            raise ParameterError(f"The strata by {question.key!r} have bands, and its answers are no numbers.")
    if settings.get("interviewers", INTERVIEWERS[0]) not in INTERVIEWERS:
        raise ParameterError(
            f"Interviewers are {' or '.join(INTERVIEWERS)} with conditions; got {settings['interviewers']!r}."
        )
    longest = with_interviewer(strata_from(settings).longest_name(), 9999)
    if len(longest) > LONGEST_STRATUM:
        raise ParameterError(f"The name of a stratum has at most {LONGEST_STRATUM} characters: {longest}.")
    for quota in quotas_from(settings):
        for test in quota.where:
            question = _question_for(test["question"], questions, f"The quota {quota.name!r}")
            _check_values(question, test.get("values", ()))
            if "band" in test and question.kind != NUMBER:
                raise ParameterError(f"The quota {quota.name!r} has a band, and {question.key!r} is not a number.")


def _question_for(key: Any, questions: Mapping[str, Question], what: str) -> Question:
    if key not in questions:
        raise ParameterError(f"{what} is by {key!r}, which the study does not ask.")
    if questions[key].is_identifying:
        raise ParameterError(
            f"{what} is by {key!r}, whose answer identifies a person, and exports would give it away by the stratum or "
            "the quota. Choose another question."
        )
    return questions[key]


def _check_values(question: Question, values: Any) -> None:
    """Refuse a value that the question never has: such a stratum or quota would be empty without a word."""
    known: list[Any] = []
    if question.kind == CHOICE:
        known = [choice.value for choice in question.choices] + ([OTHER] if question.other else [])
    elif question.kind == YES_NO:
        known = [True, False]
    wrong = [value for value in values if known and value not in known]
    if wrong:
        raise ParameterError(f"{wrong[0]!r} is not an answer to {question.key!r}; its answers are {known}.")
