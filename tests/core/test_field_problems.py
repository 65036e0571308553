"""Problems of documents, as sentences with their places."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.errors import ParameterError
from core.field_problems import FieldProblems, Problem, read_model
from tests.sentences import assert_sentences_approved

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


CASES: dict[str, dict[str, Any]] = {
    "four fields": {"title": "A long title", "order": "other", "share": 0, "tilte": "x"},
    "no list": {"questions": {"kind": "slider"}},
    "members of a union": {"questions": [{"kind": "slider", "steps": True}, {"kind": "choice", "values": ["a"]}]},
    "an entry of a list": {"questions": [{"kind": "choice", "values": ["a", 1]}]},
    "missing and unknown": {"questions": [{"kind": "slider"}, {"kind": "list"}, 3]},
    "a validator's sentence": {"questions": [{"kind": "choice", "values": ["a", "a"]}]},
    "a validator's path": {"questions": [{"kind": "choice", "values": ["a", ""]}]},
}


def test_every_problem_has_its_path_and_value() -> None:
    assert_sentences_approved("sentences/field-problems", {name: _sentences(**case) for name, case in CASES.items()})


def test_a_missing_field_of_the_document_itself_and_a_document_of_another_type() -> None:
    with pytest.raises(FieldProblems, match=r"^title: "):
        read_model(_Document, {})
    with pytest.raises(FieldProblems, match="'five'"):
        read_model(_Document, "five")


def test_a_long_value_is_shortened() -> None:
    (sentence,) = _sentences(title="x" * 500)
    assert len(sentence) < 150
    assert sentence.endswith("x….")
