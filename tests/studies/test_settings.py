"""The settings of studies: kept as they are stored, refused by field, and never in the way of a page."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core.errors import ParallaxError
from parallax.integrity.answers import check_settings
from studies.design.presets.loader import load_preset, preset_keys
from studies.design.services.launch import launch_study
from studies.enums import ParticipantStatus
from studies.models import Study
from studies.settings import StudySettings, read_settings, settings_problems
from tests.factories.studies import completed, make_study

STORED = Path(__file__).parents[1] / "data" / "upgrade"
PRESET = load_preset("cremonesi-2011").settings
GENDER = {"question": "gender", "groups": [{"name": "women", "values": ["woman"]}]}


def _digestible(settings: Any) -> str:
    return json.dumps(settings, sort_keys=True)


def _stored_by_older_versions() -> list[dict[str, Any]]:
    text = gzip.decompress((STORED / "sqlite.sql.gz").read_bytes()).decode().replace("''", "'")
    starts = [match.start() for match in re.finditer(r'\{"ratings_asked"', text)]
    return [json.JSONDecoder().raw_decode(text[start:])[0] for start in starts]


@pytest.mark.unit
def test_what_is_stored_is_written_back_byte_for_byte() -> None:
    older = _stored_by_older_versions()
    assert len(older) >= 2
    for stored in [*older, *(load_preset(key).settings for key in preset_keys())]:
        assert settings_problems(stored) == []
        # A flow is read as pages in order, and stays in the study as it was written.
        rest = {name: value for name, value in stored.items() if name != "flow"}
        assert _digestible(read_settings(rest).stored()) == _digestible(rest)


@pytest.mark.unit
def test_numbers_keep_their_kind() -> None:
    stored = {**PRESET, "taken_from": 3, "merge_below": 0.02, "effect": 1, "quality": {"fastest_seconds": 0}}
    assert _digestible(read_settings(stored).stored()) == _digestible(stored)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"list_length": True}, "list_length: Expected a whole number; got True."),
        ({"idle_minutes": 43_201}, "idle_minutes: Expected a number of at most 43200; got 43201."),
        ({"hypothesys": "x"}, "hypothesys: There is no such field. Correct its name, or remove it."),
        ({"ratings_most": 4}, "ratings_most: Expected a whole number from 5 to 50; got 4."),
        (
            {"elicitation": "choice", "elicitation_scale": "likes"},
            "elicitation_scale: This is about ratings, and participants of this study choose items without rating "
            "them. Leave it out, or set the elicitation to stars.",
        ),
        ({"taken_from": 3.3}, "taken_from: Expected a rating from 1 to 5 in steps of 1; got 3.3."),
        (
            {"method": "by heart"},
            "method: Expected one of 'permuted_blocks', 'minimisation', 'least_filled' or 'simple'; got 'by heart'.",
        ),
        ({"block_multiples": []}, "block_multiples: Expected 1 or more entries; got []."),
        ({"block_multiples": [11]}, "block_multiples[0]: Expected a number of at most 10; got 11."),
        ({"block_multiples": 2}, "block_multiples: Expected a list; got 2."),
        ({"block_weights": [1, 0]}, "block_weights[1]: Expected a number of at least 1; got 0."),
        ({"minimisation_probability": 1.2}, "minimisation_probability: Expected a number of at most 1; got 1.2."),
        ({"minimisation_probability": "often"}, "minimisation_probability: Expected a number; got 'often'."),
        ({"merge_below": 0.6}, "merge_below: Expected a number of at most 0.5; got 0.6."),
        ({"interviewers": "mixed"}, "interviewers: Expected one of 'crossed' or 'nested'; got 'mixed'."),
        ({"item_type": "rock"}, "item_type: There is no item type 'rock'."),
        ({"item_noun": {"en": {"one": "{film}"}}}, "item_noun.en.one: A word of the item noun has no braces;"),
        ({"item_noun": {"en": {"gender": "x"}}}, "item_noun: The gender of the item noun in 'en' is one of m, f, n;"),
        *(
            (
                {"primary": {"perceived": "fon", "objective": wrong}},
                "primary.objective: The primary objective metric is",
            )
            for wrong in ("ndcg", "recall@5", "recall@profile0")
        ),
        ({"expected_shares": {"gender": {"men": float("inf")}}}, "expected_shares.gender.men: Expected a finite"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_with_its_place(changes: dict[str, Any], sentence: str) -> None:
    (problem,) = settings_problems({**PRESET, **changes})
    assert str(problem).startswith(sentence)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("strata", "shares", "sentence"),
    [
        ([{"question": "age"}], {}, "strata[0]: The stratum by 'age' has either groups or bands."),
        ([{"question": "age", "bands": [[35, 50], [20, 34]]}], {}, "strata[0]: The bands of the stratum by 'age' do"),
        ([{**GENDER, "rest": "women"}], {}, "strata[0]: The strata by 'gender' need different names without commas;"),
        ([{**GENDER, "rest": "a, b"}], {}, "strata[0]: The strata by 'gender' need different names without commas;"),
        ([GENDER, GENDER], {}, "strata: Each question can define strata only once; got gender, gender."),
        ([GENDER], {"age": {"a": 1}}, "expected_shares.age: There are expected shares for 'age', which defines no"),
        ([GENDER], {"gender": {"boys": 1}}, "expected_shares.gender: There is no stratum 'boys' by 'gender'; there"),
        ([GENDER], {"gender": {"women": 0}}, "expected_shares.gender: Expected shares by 'gender' cannot all be 0."),
        ([GENDER], {"gender": {"women": -1}}, "expected_shares.gender.women: Expected a number of at least 0; got"),
    ],
)
def test_strata_that_cannot_be_used_are_refused(strata: list[Any], shares: dict[str, Any], sentence: str) -> None:
    (problem,) = settings_problems({**PRESET, "strata": strata, "expected_shares": shares})
    assert str(problem).startswith(sentence)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("quota", "sentence"),
    [
        ({"most": -1, "where": [{"question": "age", "band": [20, 29]}]}, "quotas[0].most: Expected a number of at"),
        ({"most": True, "where": [{"question": "age", "band": [20, 29]}]}, "quotas[0].most: Expected a whole number"),
        ({"where": [{"question": "age", "band": [20, 29]}]}, "quotas[0].most: This is missing. Add it."),
        ({"most": 3}, "quotas[0].where: This is missing. Add it."),
        ({"most": 3, "where": []}, "quotas[0].where: Expected 1 or more entries; got []."),
        ({"most": 3, "where": [{"question": "age"}]}, "quotas[0].where[0]: A quota needs a question with values or"),
        ({"most": 3, "where": [{"question": "age", "band": [29, 20]}]}, "quotas[0].where[0]: A quota needs"),
        ({"most": 3, "where": [{"question": "a", "band": [1, 2], "values": ["b"]}]}, "quotas[0].where[0]: A quota"),
        ({"most": 3, "where": [{"values": ["a"]}]}, "quotas[0].where[0].question: This is missing. Add it."),
    ],
)
def test_a_quota_that_cannot_be_used_is_refused(quota: dict[str, Any], sentence: str) -> None:
    (problem,) = settings_problems({**PRESET, "quotas": [{"name": "a", **quota}]})
    assert str(problem).startswith(sentence)


@pytest.mark.unit
def test_two_quotas_of_one_name_are_refused() -> None:
    quota = {"name": "a", "most": 3, "where": [{"question": "age", "band": [20, 29]}]}
    (problem,) = settings_problems({**PRESET, "quotas": [quota, quota]})
    assert str(problem).startswith("quotas: ")
    assert "a, a" in str(problem)


@pytest.mark.unit
def test_settings_that_cannot_be_used_are_left_out_and_the_others_kept() -> None:
    stored = {
        **PRESET,
        "list_length": "five",
        "ratings_asked": 7,
        "ratings_most": 6,
        "strata": [{"question": "age"}],
        "expected_shares": {"gender": {"women": 50}},
    }
    design = read_settings(stored)
    assert (design.list_length, design.ratings_asked, design.items_asked.most) == (5, 7, 7)
    assert (design.strata, design.expected_shares, design.languages) == ((), {}, ("en", "it"))
    assert [problem.location for problem in settings_problems(stored)] == [
        "list_length", "strata[0]", "ratings_most", "expected_shares.gender",
    ]  # fmt: skip
    assert read_settings([]) == StudySettings()  # type: ignore[arg-type]


@pytest.mark.unit
def test_every_setting_that_a_design_must_name_is_missed() -> None:
    missing = [problem.location for problem in settings_problems({})]
    assert missing == [
        "ratings_asked", "list_length", "item_order", "idle_minutes", "block_multiples", "strata", "primary",
        "languages",
    ]  # fmt: skip


@pytest.mark.integration
@pytest.mark.django_db
def test_a_stored_setting_that_cannot_be_used_stops_no_page_and_is_told(client: Client) -> None:
    study = make_study(status="draft")
    study.settings |= {"list_length": "five", "strata": [{"question": "age"}], "primary": "accuracy", "colour": "red"}
    study.settings["expected_shares"] = {"gender": {"women": 50}}
    study.save()
    client.force_login(study.memberships.get(role="owner").researcher)
    for page in (
        "detail",
        "dataset",
        "conditions",
        "flow",
        "texts",
        "sample",
        "plan",
        "launch",
        "power",
        "imbalance",
        "questionnaire",
        "settings",
    ):
        assert client.get(reverse(f"studies:{page}", args=[study.slug])).status_code == 200, page
    told = [str(problem) for problem in settings_problems(study.settings)]
    assert [sentence.partition(":")[0] for sentence in told] == [
        "list_length", "strata[0]", "primary", "colour", "expected_shares.gender",
    ]  # fmt: skip
    with pytest.raises(ParallaxError) as refused:
        launch_study(study=study)
    assert set(told) <= {sentence.removeprefix("The setting ") for sentence in refused.value.extra["problems"]}
    assert [finding.what for finding in check_settings(study)] == [f"The setting {sentence}" for sentence in told]
    study.refresh_from_db()
    assert study.settings["colour"] == "red", "nothing is dropped"


@pytest.mark.integration
@pytest.mark.django_db
def test_people_answer_a_live_study_whose_stored_setting_cannot_be_used() -> None:
    study = make_study()
    Study.objects.filter(pk=study.pk).update(settings={**study.settings, "list_length": "five", "colour": "red"})
    participant = completed(Study.objects.get(pk=study.pk))
    assert participant.status == ParticipantStatus.COMPLETED


@pytest.mark.integration
@pytest.mark.django_db
def test_settings_are_read_again_once_they_change() -> None:
    study = make_study(status="draft")
    assert study.design is study.design
    assert study.design.idle_minutes == 60
    study.settings["idle_minutes"] = 7
    assert study.design.idle_minutes == 7
