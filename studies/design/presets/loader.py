"""Shipped study templates, read and checked, and shipped blocks of questions: the library of scales."""

from __future__ import annotations

import copy
import functools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from core.errors import ParameterError
from core.field_problems import FieldProblems, Problem, read_model
from recommenders.reranking import BAR
from studies.allocation.assignment.strata import strata_from, with_interviewer
from studies.flow_pages import SIDE_BY_SIDE, block_problems, text_problems
from studies.instrument.flow import Designed, preference_problems, questionnaire_of, read_questions, with_choice
from studies.instrument.outcomes import planned_outcomes
from studies.instrument.questionnaires.core import core_problems
from studies.instrument.questionnaires.document import read_document
from studies.instrument.questionnaires.kinds import Number
from studies.instrument.questionnaires.schema import (
    ITEMS,
    NO_BLOCKS,
    Question,
    Questionnaire,
    QuestionnaireProblems,
    lacking_wordings,
    questionnaire_from,
)
from studies.instrument.scales import scales_of
from studies.presentation import MODEL
from studies.settings import StudySettings, read_settings, settings_problems

FOLDER = Path(__file__).parent
BLOCKS_FOLDER = FOLDER / "question_blocks"
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")  # within a paragraph
LONGEST_STRATUM = 120
FEWEST_CONDITIONS = 2
REQUIRED_TEXTS = ("title", "consent", "consent_boxes", "debriefing", "screened_out", "quota_full", "closed")

UNEVEN_BOXES = "Every language needs the same number of boxes to tick."


class Preset(BaseModel):
    """A study template: everything of a study's design but its dataset, its models and its numbers.

    A study keeps the version that it was created from. `presentations` are factors as in settings, which the chosen
    recommenders are crossed with; with `rerankings`, as commands write them after the bar, one recommender and its
    re-rankings are the conditions. `compared` are the algorithms of a quick comparison, as in commands; empty for the
    usual ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    version: int
    title: str
    description: str
    settings: dict[str, Any]
    questionnaire: dict[str, Any]
    texts: dict[str, Any]
    presentations: list[dict[str, Any]] = []
    rerankings: tuple[str, ...] = ()
    compared: str = ""

    @property
    def quick_algorithms(self) -> str:
        """The algorithms of its quick comparison with their re-rankings, as in commands; empty for the usual ones."""
        return ", ".join([self.compared, *(f"{self.compared}{BAR}{each}" for each in self.rerankings)])

    @property
    def fewest_conditions(self) -> int:
        """The conditions that a study from it has at least."""
        cells = math.prod(len(factor["levels"]) for factor in self.presentations) * (1 + len(self.rerankings))
        return max(FEWEST_CONDITIONS, cells)

    @property
    def explains(self) -> bool:
        """Whether the recommenders explain their lists in one of its presentations."""
        levels = [level for factor in self.presentations for level in factor["levels"]]
        return any(level["presentation"].get("explanation") == MODEL for level in levels)


@dataclass(frozen=True)
class Block:
    """Questions with their scales as a YAML document, what they are for, and where they come from."""

    key: str
    title: str
    description: str
    citation: str  # in APA style
    licence: str  # a note, in sentences
    scoring: str  # how the scores are computed, in sentences
    wording: str  # who worded the questions in each language, in sentences
    document: str

    @property
    def questionnaire(self) -> dict[str, Any]:
        return read_document(self.document)

    @property
    def n_items(self) -> int:
        """The number of answers that its scales are scored from."""
        return sum(len(scale.members) for scale in scales_of(questionnaire_from(self.questionnaire)))

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(questionnaire_from(self.questionnaire).questions[0].text)


def _keys(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in folder.glob("*.yaml")))


def preset_keys() -> tuple[str, ...]:
    """Names of the shipped templates, in alphabetical order."""
    return _keys(FOLDER)


def block_keys() -> tuple[str, ...]:
    """Names of the shipped blocks, in alphabetical order."""
    return _keys(BLOCKS_FOLDER)


def load_block(key: str) -> Block:
    """Find a block; ParameterError names the known ones."""
    if key not in block_keys():
        raise ParameterError(f"There is no block {key!r}; the blocks are {', '.join(block_keys())}.")
    text = (BLOCKS_FOLDER / f"{key}.yaml").read_text(encoding="utf-8")
    head, _rule, document = text.partition("\n---\n")
    header = yaml.safe_load(head)
    return Block(key=key, document=document, **header)


def attention_check(languages: Sequence[str]) -> dict[str, Any]:
    """Return the ready-made attention check without its key, in those of the languages that it is worded in."""
    check: dict[str, Any] = yaml.safe_load((FOLDER / "questions" / "attention.yaml").read_text(encoding="utf-8"))
    for name in ("text", "labels"):
        check[name] = {code: check[name][code] for code in languages if code in check[name]}
    return check


def load_preset(key: str) -> Preset:
    """Read a template; ParameterError names the known ones, or what is wrong with its content."""
    if key not in preset_keys():
        shipped = "\n".join(f"{each}: {_shipped(each).description}" for each in preset_keys())
        raise ParameterError(f"There is no template {key!r}. The templates are:\n{shipped}")
    return copy.deepcopy(_shipped(key))


@functools.cache
def _shipped(key: str) -> Preset:
    data = yaml.safe_load((FOLDER / f"{key}.yaml").read_text(encoding="utf-8"))
    preset = read_model(Preset, data)
    # People edit each paragraph on one line of a field; the file wraps its lines.
    for texts in preset.texts.values():
        wrapped = {name: text for name, text in texts.items() if isinstance(text, str)}
        texts.update({name: _LINE_BREAK.sub(" ", text.rstrip("\n")) for name, text in wrapped.items()})
    check_design(settings=preset.settings, questionnaire=preset.questionnaire, texts=preset.texts)
    return preset


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
    wrong = settings_problems(settings)
    if "flow" in settings:
        wrong += block_problems(settings["flow"], questionnaire, NO_BLOCKS)
    design = read_settings(settings)
    complete = [language for language in design.languages if language not in translating]
    wrong += text_problems(design.flow.pages, complete)
    if wrong:
        raise FieldProblems(wrong)
    parsed = read_questions(with_choice(questionnaire, design), design)
    if problems := preference_problems(parsed, design):
        raise QuestionnaireProblems(problems)
    about = {question.key: question for question in parsed.about}
    columns = {"item.opened", "item.played", "item.played_seconds", "behaviour.opened", "behaviour.played"}
    of_questions = {
        f"{'item' if block == ITEMS else block}.{q.key}" for block in parsed.blocks for q in parsed.block(block)
    }
    if design.recorded and (clashes := sorted(columns & of_questions)):
        text = f"Questions are exported as {', '.join(clashes)}, as is recorded behaviour. Give them other keys."
        raise FieldProblems([Problem(("recorded",), text)])
    _check_plan(design, parsed, about)
    _check_assignment(design, about)
    sendable = sendable_answers(parsed)
    if refused := [key for key in design.sent_answers if key not in sendable]:
        text = (
            f"Answers to {', '.join(refused)} cannot be sent: the study asks no such question before the ratings, or "
            f"its answers identify a person or are in own words. Choose among {', '.join(sendable) or 'none'}."
        )
        raise FieldProblems([Problem(("sent_answers",), text)])
    _check_texts(complete, texts)
    if problems := core_problems(parsed, design.plan.tested):
        raise QuestionnaireProblems(problems)
    if problems := lacking_wordings(parsed, complete):
        raise QuestionnaireProblems(problems)


def has_even_boxes(texts: Mapping[str, Any], languages: Sequence[str]) -> bool:
    """Whether there are as many boxes to tick in each of the languages."""
    return len({len(texts.get(language, {}).get("consent_boxes", ())) for language in languages}) < 2


def translation_gaps(study: Designed, texts: Mapping[str, Any], language: str) -> list[str]:
    """What a design still lacks in a language, in sentences: its texts, and the words of its questions and scales."""
    own = texts.get(language, {})
    lacking = [name for name in REQUIRED_TEXTS if not own.get(name)]
    gaps = [f"The texts in {language!r} lack {', '.join(lacking)}."] if lacking else []
    of_pages = text_problems(study.design.flow.pages, [language])
    missing = [*lacking_wordings(questionnaire_of(study), [language]), *of_pages]
    if missing:
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


def _check_plan(design: StudySettings, questionnaire: Questionnaire, about: Mapping[str, Question]) -> None:
    plan, perceived = design.plan, design.primary.perceived
    if perceived not in plan.tested:
        raise ParameterError(
            f"The plan leaves out {perceived}, the variable of its primary pair: take it in, or choose another primary "
            "variable."
        )
    if design.refill_excluded and not plan.exclude:
        raise ParameterError(
            "Slots can be refilled only if the plan excludes participants: choose at least one quality flag, or "
            "do not refill."
        )
    filled = [scale.key for scale in scales_of(questionnaire)]
    for key in plan.scales:
        if key not in [scale.key for scale in questionnaire.scales]:
            raise ParameterError(f"The plan names the scale {key!r}, which the questionnaire does not have.")
        if key not in filled:
            raise ParameterError(
                f"The plan names the scale {key!r}, and no question belongs to it. Add a question to the scale, or "
                "take the scale out of the plan."
            )
    planned_outcomes(questionnaire, design)
    primary = design.primary
    not_allowed = [*plan.variables, *plan.scales, primary.contrast, primary.effect, primary.smallest_effect]
    if design.flow.lists.shown == SIDE_BY_SIDE and any(each is not None for each in not_allowed):
        raise ParameterError(
            "Lists side by side are compared by questions of preference: name them as outcomes, such as "
            "compare.overall, and leave measures, scales, a contrast, an effect and a smallest effect out of the plan."
        )
    for key in plan.covariates:
        question = _question_for(key, about, "A covariate")
        if not question.is_covariate:
            raise ParameterError(
                f"A covariate is one number or one choice, and {key!r} is a question of another kind ({question.kind})."
            )


def possible_covariates(questionnaire: Questionnaire) -> list[str]:
    """Keys of the questions before assignment that can be covariates: one number or one choice, of no identity."""
    return [q.key for q in questionnaire.about if q.is_covariate and not q.is_identifying]


def sendable_answers(questionnaire: Questionnaire) -> list[str]:
    """Keys of the questions before the ratings whose answers may be sent to a remote recommender."""
    return [q.key for q in questionnaire.about if not (q.is_identifying or q.is_in_words or q.other)]


def questions_of_choice(questionnaire: Questionnaire) -> dict[str, Question]:
    """The questions before the ratings that are answered by one choice and do not identify people, by key."""
    covariates = (q for q in questionnaire.about if q.is_covariate and not q.is_identifying)
    return {q.key: q for q in covariates if q.possible_answers()}


def _check_assignment(design: StudySettings, questions: Mapping[str, Question]) -> None:
    for rule in design.strata:
        question = _question_for(rule.question, questions, "A stratum")
        if question.takes_several or question.rows:
            raise ParameterError(f"A stratum is by one answer, and {question.key!r} has several.")
        _check_values(question, [value for group in rule.groups or () for value in group.values])
        if rule.bands is not None and not isinstance(question, Number):
            raise ParameterError(f"The strata by {question.key!r} have bands, and its answers are no numbers.")
    longest = with_interviewer(strata_from(design).longest_name(), 9999)
    if len(longest) > LONGEST_STRATUM:
        raise ParameterError(f"The name of a stratum has at most {LONGEST_STRATUM} characters: {longest}.")
    for quota in design.quotas:
        for test in quota.where:
            question = _question_for(test.question, questions, f"The quota {quota.name!r}")
            _check_values(question, test.values)
            if test.band is not None and not isinstance(question, Number):
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
    known = list(question.possible_answers()) if question.is_covariate and not question.is_on_points else []
    wrong = [value for value in values if known and value not in known]
    if wrong:
        raise ParameterError(f"{wrong[0]!r} is not an answer to {question.key!r}; its answers are {known}.")
