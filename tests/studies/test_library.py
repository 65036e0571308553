"""The library of scales: the scores are those of the publications, and each entry says where it comes from."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from studies.design.presets.loader import block_keys, load_block
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.instrument.scales import ScaleOfStudy, scales_of

pytestmark = pytest.mark.unit


def library(key: str) -> dict[str, ScaleOfStudy]:
    return {scale.key: scale for scale in scales_of(questionnaire_from(load_block(key).questionnaire))}


def test_sus_is_two_and_a_half_times_the_sum_of_ten_contributions() -> None:
    sus = library("sus")["sus"]
    rows = [member.row for member in sus.members]
    assert [member.is_reversed for member in sus.members] == [False, True] * 5
    rng = random.Random(1)
    for _ in range(50):
        points = [rng.randint(1, 5) for _ in rows]
        contributions = [point - 1 if place % 2 == 0 else 5 - point for place, point in enumerate(points)]
        assert sus.score({"sus": dict(zip(rows, points, strict=True))}) == Fraction(5, 2) * sum(contributions)
    assert (sus.minimum, sus.maximum) == (0, 100)
    assert sus.score({"sus": dict.fromkeys(rows[:9], 3)}) is None  # all ten have to be answered


def test_ueq_s_scores_four_pairs_each_from_minus_three_to_three() -> None:
    scales = library("ueq-s")
    pragmatic, hedonic = scales["ueq_pragmatic"], scales["ueq_hedonic"]
    keys = [member.question for member in (*pragmatic.members, *hedonic.members)]
    answers: dict[str, Any] = dict(zip(keys, (7, 6, 7, 6, 1, 2, 4, 4), strict=True))
    assert pragmatic.score(answers) == Fraction(5, 2)
    assert hedonic.score(answers) == Fraction(-5, 4)
    assert (pragmatic.minimum, pragmatic.maximum) == (-3, 3)
    asked = questionnaire_from(load_block("ueq-s").questionnaire).questions
    assert [question.ends["en"] for question in asked][:2] == [
        ("obstructive", "supportive"),
        ("complicated", "easy"),
    ]


def test_raw_tlx_is_the_mean_of_six_sliders() -> None:
    tlx = library("nasa-tlx-raw")["tlx"]
    values = (0, 100, 55, 5, 40, 25)
    answers = {member.question: value for member, value in zip(tlx.members, values, strict=True)}
    assert tlx.score(answers) == Fraction(sum(values), 6)
    assert not any(member.is_reversed for member in tlx.members)
    assert tlx.score({key: value for key, value in answers.items() if key != "tlx_effort"}) is None


@pytest.mark.parametrize("key", block_keys())
def test_every_entry_names_source_licence_scoring_and_languages(key: str) -> None:
    block = load_block(key)
    assert block.title
    assert "(" in block.citation
    assert all(text.endswith(".") for text in (block.description, block.licence, block.scoring, block.wording))
    assert block.languages == ("en", "it")
