"""The texts of a questionnaire in two languages, and what differs between two questionnaires."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from studies.instrument.questionnaires.changes import changes_between
from studies.instrument.questionnaires.schema import lacking_wordings, questionnaire_from
from studies.instrument.questionnaires.wording import n_missing, with_wordings, wordings_of
from tests.factories.questionnaires import every_kind

pytestmark = pytest.mark.unit


def without(language: str, node: Any) -> Any:
    if isinstance(node, list):
        return [without(language, part) for part in node]
    if isinstance(node, dict):
        return {name: without(language, part) for name, part in node.items() if name != language}
    return node


def test_every_text_is_taken_out_and_put_back() -> None:
    asked = every_kind()
    texts = list(wordings_of(asked))
    assert n_missing(asked, "en", "it") == 0
    assert len({text.name for text in texts}) == len(texts)
    bare = without("it", asked)
    missing = list(wordings_of(bare))
    assert [text.name for text in missing] == [text.name for text in texts]
    assert all(text.is_missing("en", "it") for text in missing if text.text("en"))
    assert n_missing(bare, "en", "it") == len([text for text in texts if text.text("en")])
    assert lacking_wordings(questionnaire_from(bare), ["it"])
    again = with_wordings(bare, {"it": {text.name: text.text("it") for text in texts}})
    assert again == asked
    assert bare == without("it", asked)  # the questionnaire itself is not changed


def test_a_translation_is_changed_and_removed_text_by_text() -> None:
    likert = {"key": "q", "kind": "likert", "minimum": 1, "maximum": 3, "text": {"en": "Q", "it": "D"},
              "ends": {"en": ["Low", ""], "it": ["Basso", ""]}, "labels": {"en": ["a", "b", "c"]}}  # fmt: skip
    asked = {"after": [likert], "scales": [{"key": "s", "name": {"en": "S"}}]}
    assert [(text.name, text.label) for text in wordings_of(asked) if text.text("en")] == [
        ("after.q.text", "Question"),
        ("after.q.ends.0", "Lowest point"),
        ("after.q.labels.0", "Point 1"),
        ("after.q.labels.1", "Point 2"),
        ("after.q.labels.2", "Point 3"),
        ("scales.s.name", "Name of the scale"),
    ]
    part = with_wordings(asked, {"it": {"after.q.labels.1": "b (it)", "after.q.ends.0": "", "no.such.text": "x"}})
    assert part["after"][0]["labels"]["it"] == ["", "b (it)", ""]
    assert part["after"][0]["ends"] == {"en": ["Low", ""]}
    assert part["after"][0]["text"] == likert["text"]
    assert with_wordings(asked, {"it": {"after.q.text": ""}})["after"][0]["text"] == {"en": "Q"}


def test_differences_are_named_by_question() -> None:
    before = every_kind()
    after = copy.deepcopy(before)
    assert changes_between(before, after) == []
    block = after["after"]
    block[0]["help"] = {"en": "Any of them", "it": "Uno qualsiasi"}
    block[2], block[3] = block[3], block[2]
    gone = block.pop()
    after["overall"].append({"key": "new", "kind": "text", "text": {"en": "New?"}})
    after["scales"] = [scale for scale in after["scales"] if scale["key"] != "fit"]
    after["attention"] = {"ends_after": 7}
    found = [(change.kind, change.block, change.key) for change in changes_between(before, after)]
    assert found == [
        ("added", "overall", "new"),
        ("changed", "after", "streams"),
        ("moved", "after", "hours"),
        ("moved", "after", "devices"),
        ("changed", "attention", ""),
        ("removed", "after", gone["key"]),
        ("removed", "scales", "fit"),
    ]
    assert changes_between(before, after)[1].fields == ("help",)
    elsewhere = {"about": [before["after"][0]]}
    assert [change.kind for change in changes_between({"after": [before["after"][0]]}, elsewhere)] == ["moved"]
