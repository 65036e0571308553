"""Problems of documents, as sentences with their places."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.errors import ParameterError
from core.field_problems import FieldProblems, Problem, read_model

pytestmark = pytest.mark.unit


class _Slider(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["slider"]
    steps: int = Field(ge=2, le=100)


class _Choice(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["choice"]
    values: list[str] = Field(min_length=2)

    @model_validator(mode="after")
    def _are_different(self) -> _Choice:
        if len(set(self.values)) < len(self.values):
            raise ParameterError("Each value is named once.")
        if "" in self.values:
            raise FieldProblems([Problem(("values", self.values.index("")), "A value is not empty.")])
        return self


Question = Annotated[_Slider | _Choice, Field(discriminator="kind")]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str = Field(max_length=9)
    order: Literal["random", "title"] = "random"
    share: float = Field(default=0.5, gt=0)
    questions: list[Question] = []


def _sentences(**changes: Any) -> list[str]:
    with pytest.raises(FieldProblems) as refused:
        read_model(_Document, {"title": "Films", **changes})
    return [str(problem) for problem in refused.value.problems]


def test_every_problem_is_told_with_its_path_and_value() -> None:
    assert _sentences(title="A long title", order="other", share=0, tilte="x") == [
        "title: Expected text of at most 9 characters; got 'A long title'.",
        "order: Expected one of 'random' or 'title'; got 'other'.",
        "share: Expected a number above 0; got 0.",
        "tilte: There is no such field. Correct its name, or remove it.",
    ]
    assert _sentences(questions={"kind": "slider"}) == ["questions: Expected a list; got {'kind': 'slider'}."]


def test_a_path_is_that_of_the_document_without_the_members_of_a_union() -> None:
    assert _sentences(questions=[{"kind": "slider", "steps": True}, {"kind": "choice", "values": ["a"]}]) == [
        "questions[0].steps: Expected a whole number; got True.",
        "questions[1].values: Expected 2 or more entries; got ['a'].",
    ]
    assert _sentences(questions=[{"kind": "choice", "values": ["a", 1]}]) == [
        "questions[0].values[1]: Expected text; got 1."
    ]
    assert _sentences(questions=[{"kind": "slider"}, {"kind": "list"}, 3]) == [
        "questions[0].steps: This is missing. Add it.",
        "questions[1]: Expected one of 'slider', 'choice' as 'kind'; got {'kind': 'list'}.",
        "questions[2]: Expected names with values; got 3.",
    ]


def test_a_validators_own_sentence_and_paths_are_kept() -> None:
    assert _sentences(questions=[{"kind": "choice", "values": ["a", "a"]}]) == [
        "questions[0]: Each value is named once."
    ]
    assert _sentences(questions=[{"kind": "choice", "values": ["a", ""]}]) == [
        "questions[0].values[1]: A value is not empty."
    ]


def test_a_missing_field_of_the_document_itself_and_a_document_of_another_type() -> None:
    with pytest.raises(FieldProblems, match=r"^title: This is missing. Add it\.$"):
        read_model(_Document, {})
    with pytest.raises(FieldProblems, match=r"^Expected names with values; got 'five'\.$"):
        read_model(_Document, "five")


def test_a_long_value_is_shortened() -> None:
    (sentence,) = _sentences(title="x" * 500)
    assert len(sentence) < 150
    assert sentence.endswith("x….")
