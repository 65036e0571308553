"""A draft's questionnaire, changed question by question: each change is checked whole, stored and logged."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError, ParameterError
from core.provenance import digest_of
from core.transitions import record
from studies.design.presets.loader import check_design, load_block
from studies.design.services.design import require_draft
from studies.design.services.trials import drop_trial
from studies.enums import StudyStatus
from studies.instrument.flow import read_questions, with_choice
from studies.instrument.questionnaires.core import is_measured
from studies.instrument.questionnaires.document import read_document
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.instrument.questionnaires.schema import EVALUATOR, blocks_in
from studies.instrument.questionnaires.wording import with_wordings
from studies.models import QuestionnaireUndo, Study

UP, DOWN = "up", "down"
UNDO_KEPT = timedelta(days=1)
Data = dict[str, Any]


def _refused(problem: ParameterError) -> ParallaxError:
    problems = [str(problem)]
    if isinstance(problem, QuestionnaireProblems):  # those of a document have their line and place
        problems = list(map(str, getattr(problem, "located", [fault.message for fault in problem.problems])))
    return ParallaxError("questionnaire.problems", " ".join(problems), {"problems": problems})


def _require_sound(study: Study, questionnaire: Data) -> None:
    """Raise `questionnaire.problems` unless the study could have this questionnaire in the place of its own."""
    translating = study.design.languages[1:]
    try:
        check_design(settings=study.settings, questionnaire=questionnaire, texts=study.texts, translating=translating)
    except ParameterError as problem:
        raise _refused(problem) from problem


@contextmanager
def _edited(study: Study, actor: Any, change: str, *, undo: str = "") -> Iterator[Data]:
    """Yield a copy of the questionnaire to edit; then check the whole design, store and log it.

    Previews of the former design are removed. With `undo`, a description of the change, the questionnaire as it was can
    be restored until the next change. Raises `studies.not_draft`, `questionnaire.problems`.
    """
    with transaction.atomic():
        current = Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
        require_draft(current)
        edited: Data = copy.deepcopy(current.questionnaire)
        yield edited
        _require_sound(current, edited)
        QuestionnaireUndo.objects.filter(study=current).delete()
        if undo:
            longest = QuestionnaireUndo.LONGEST_TITLE
            QuestionnaireUndo.objects.create(
                study=current,
                title=undo if len(undo) <= longest else f"{undo[: longest - 1]}…",
                questionnaire=current.questionnaire,
                digest_after=digest_of(edited),
            )
        current.questionnaire = edited
        current.save(update_fields=["questionnaire", "updated_at"])
        record(current, reason=f"Questionnaire changed: {change}", actor=actor)
        drop_trial(study=current, actor=actor)
        study.questionnaire = edited


def undoable(study: Study) -> QuestionnaireUndo | None:
    """Return the last deletion; None after another change of the questionnaire, after a day, or after the launch."""
    undo = QuestionnaireUndo.objects.filter(study=study, created_at__gte=timezone.now() - UNDO_KEPT).first()
    if undo is None or study.status != StudyStatus.DRAFT or digest_of(study.questionnaire) != undo.digest_after:
        return None
    return undo


def undo_deletion(*, study: Study, actor: Any = None) -> str:
    """Restore the questionnaire as it was before the last deletion or import; return what is undone.

    Raises `studies.not_draft`, and `questionnaire.nothing_to_undo` after another change or after a day.
    """
    undo = undoable(study)
    if undo is None:
        raise ParallaxError(
            "questionnaire.nothing_to_undo",
            "There is nothing to undo: the questionnaire has changed since, or more than a day has passed.",
        )
    with _edited(study, actor, f"undone: {undo.title}") as data:
        if digest_of(data) != undo.digest_after:
            raise ParallaxError("questionnaire.nothing_to_undo", "The questionnaire has just changed. Reload the page.")
        data.clear()
        data.update(undo.questionnaire)
    return undo.title


def _position_of(data: Data, key: str) -> tuple[str, int]:
    for block in blocks_in(data):
        for number, question in enumerate(data.get(block, ())):
            if question["key"] == key:
                return block, number
    raise ParallaxError("questionnaire.unknown", f"This questionnaire has no question {key!r}; it may have been moved.")


def free_key(used: set[str], stem: str = "q") -> str:
    """Return an unused key: the stem with the next number."""
    base = re.sub(r"_?\d+$", "", stem)[:36] or "q"
    return next(f"{base}_{number}" for number in range(1, len(used) + 2) if f"{base}_{number}" not in used)


def save_question(*, study: Study, block: str, question: Mapping[str, Any], actor: Any = None) -> None:
    """Put a question in the place of the one with its key, or at the end of the block where there is none.

    Words may be missing in all languages but the first: the study is not launched before they are written. Raises
    `studies.not_draft`, `questionnaire.problems`.
    """
    key = str(question["key"])
    with _edited(study, actor, f"question {key} saved.") as data:
        questions = data.setdefault(block, [])
        keys = [stored["key"] for stored in questions]
        at = keys.index(key) if key in keys else len(keys)
        questions[at : at + 1] = [dict(question)]


def rename_question(*, study: Study, key: str, new_key: str, actor: Any = None) -> str:
    """Give a question another key, also in the conditions on it, and return that. Raises as `delete_question`."""
    with _edited(study, actor, f"question {key} renamed to {new_key}.") as data:
        block, number = _position_of(data, key)
        if is_measured(block, key, study.design.plan.tested):
            raise _measured(key)
        data[block][number]["key"] = new_key
        _rename(data, key, new_key)
    return new_key


def _rename(data: Data, old: str, new: str) -> None:
    def renamed(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                name: new if name == "question" and value == old else renamed(value) for name, value in node.items()
            }
        return [renamed(part) for part in node] if isinstance(node, list) else node

    for block in blocks_in(data):
        for question in data.get(block, ()):
            if "shown_if" in question:
                question["shown_if"] = renamed(question["shown_if"])


def _measured(key: str) -> ParallaxError:
    return ParallaxError(
        "questionnaire.measured",
        f"Perceived accuracy, novelty or satisfaction is made of {key!r}. Its words can be changed; its key cannot, "
        "and it cannot be deleted. Leave the variable out of the analysis plan first.",
    )


def delete_question(*, study: Study, key: str, actor: Any = None) -> None:
    """Take a question out.

    Raises as `save_question`, `questionnaire.measured`; where another question depends on it, `questionnaire.problems`
    says which.
    """
    block, number = _position_of(study.questionnaire, key)
    title = f"Deleted “{next(iter(study.questionnaire[block][number]['text'].values()), key)}”."
    with _edited(study, actor, f"question {key} deleted.", undo=title) as data:
        block, number = _position_of(data, key)
        if is_measured(block, key, study.design.plan.tested):
            raise _measured(key)
        del data[block][number]


def move_question(*, study: Study, key: str, direction: str, actor: Any = None) -> str:
    """Move a question one place up or down within its block; at the end it stays where it is. Return its key.

    Raises as `save_question`, and `questionnaire.unknown`; where a condition would come before what it depends on,
    `questionnaire.problems`.
    """
    with _edited(study, actor, f"question {key} moved {direction}.") as data:
        block, number = _position_of(data, key)
        target = number + (-1 if direction == UP else 1)
        if 0 <= target < len(data[block]):
            questions = data[block]
            questions[number], questions[target] = questions[target], questions[number]
    return key


def duplicate_question(*, study: Study, key: str, actor: Any = None) -> str:
    """Put a copy of a question after it, and return the copy's key. Raises as `save_question`."""
    with _edited(study, actor, f"question {key} duplicated.") as data:
        block, number = _position_of(data, key)
        new_key = free_key({question["key"] for block in blocks_in(data) for question in data.get(block, ())}, key)
        data[block].insert(number + 1, {**copy.deepcopy(data[block][number]), "key": new_key})
    return new_key


def save_scale(*, study: Study, scale: Mapping[str, Any], actor: Any = None) -> None:
    """Add a scale, or put it in the place of the one with its key. Raises as `save_question`."""
    with _edited(study, actor, f"scale {scale['key']} saved.") as data:
        scales = data.setdefault("scales", [])
        for number, stored in enumerate(scales):
            if stored["key"] == scale["key"]:
                scales[number] = dict(scale)
                return
        scales.append(dict(scale))


def delete_scale(*, study: Study, key: str, actor: Any = None) -> None:
    """Take a scale out, and its questions from it. Raises as `save_question`."""
    with _edited(study, actor, f"scale {key} deleted.", undo=f"Deleted the scale “{key}”.") as data:
        data["scales"] = [scale for scale in data.get("scales", ()) if scale["key"] != key]
        for block in blocks_in(data):
            for question in data.get(block, ()):
                if question.get("scale") == key:
                    del question["scale"]


def save_translation(*, study: Study, language: str, texts: Mapping[str, str], actor: Any = None) -> None:
    """Save texts of the questionnaire in a language; `texts` maps names of texts to their translations.

    Raises as `save_question`.
    """
    with _edited(study, actor, f"translated into {language}.") as data:
        translated = with_wordings(data, {language: texts})
        data.clear()
        data.update(translated)


def set_attention(*, study: Study, ends_after: int, actor: Any = None) -> None:
    """Set how many failed attention checks end a session; 0 for no limit. Raises as `save_question`."""
    with _edited(study, actor, f"attention checks end after {ends_after}.") as data:
        data.pop("attention", None)
        if ends_after:
            data["attention"] = {"ends_after": ends_after}


def add_block(*, study: Study, name: str, actor: Any = None) -> None:
    """Add the questions and scales of a shipped block.

    Raises as `save_question`, and `questionnaire.unknown_block`; a key that is taken is among the problems.
    """
    try:
        block = load_block(name)
    except ParameterError as problem:
        raise ParallaxError("questionnaire.unknown_block", str(problem)) from problem
    with _edited(study, actor, f"block {name} added.") as data:
        for part in (*blocks_in(), "scales"):
            if block.questionnaire.get(part):
                data.setdefault(part, []).extend(copy.deepcopy(block.questionnaire[part]))


def parsed_document(study: Study, text: str) -> Data:
    """Read a YAML document of a study's questionnaire; raises `questionnaire.problems` with the line of each."""
    try:
        return read_document(text, lambda data: read_questions(with_choice(data, study.design), study.design))
    except QuestionnaireProblems as problem:
        raise _refused(problem) from problem


def checked_document(*, study: Study, text: str) -> Data:
    """Read a YAML document as the questionnaire of a study, which is not changed. Raises as `import_questionnaire`."""
    document = parsed_document(study, text)
    _require_sound(study, document)
    return document


def import_questionnaire(*, study: Study, text: str, actor: Any = None) -> None:
    """Put a YAML document's questionnaire in the place of the study's.

    Raises `studies.not_draft`, and what `parsed_document` raises.
    """
    document = parsed_document(study, text)
    title = "Replaced the questionnaire by a document."
    with _edited(study, actor, "imported from a document.", undo=title) as data:
        data.clear()
        data.update(document)


def add_evaluator_question(*, study: Study, question: Mapping[str, Any], actor: Any = None) -> None:
    """Add a question that the interviewer answers after each session. Raises as `save_question`."""
    with _edited(study, actor, f"question {question['key']} for the evaluator added.") as data:
        data.setdefault(EVALUATOR, []).append(dict(question))


def delete_evaluator_question(*, study: Study, key: str, actor: Any = None) -> None:
    """Delete a question for the evaluator; one that is not there is ignored. Raises as `save_question`."""
    with _edited(study, actor, f"question {key} for the evaluator deleted.") as data:
        questions = [question for question in data.pop(EVALUATOR, []) if question["key"] != key]
        if questions:
            data[EVALUATOR] = questions
