"""Uploaded lists in studies: what may be launched, what participants are shown, and the keys in exports."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from catalog.models import DatasetVersion
from core.errors import ParallaxError
from evaluation.exports import run_document
from evaluation.models import EvaluationRun
from evaluation.selectors.results import COVERED_PROFILES, model_rows
from recommenders.data import Scale
from recommenders.uploaded_lists import profile_key
from studies.data.exports.export_files import write_export
from studies.design.services.condition_serving import recommend_in
from studies.design.services.design import change_design
from studies.design.services.launch import launch_problems
from studies.design.services.list_coverage import coverage_problems
from studies.models import Condition, RecommendedItem, Study
from studies.participation.selectors.responses import public_ids
from studies.participation.services import ratings, recommending
from tests.evaluation.test_uploads import upload
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import assigned, items_of, make_study
from tests.studies.test_sequences import IN_TURN, flow

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

EXACT = {"name": "one-plus-random", "negatives": 20, "relevant": 4.0, "irrelevant": 2.0, "mode": "exact"}
EVERYONE = [str(number) for number in range(40, 0, -1)]
OWN = profile_key(["1", "2", "3", "4", "5"], [1, 2, 3, 4, 5], Scale(1, 5, 1))  # of those whom `rated` lets rate


def run_with(
    path: Path, lists: dict[str, list[str]], protocol: dict[str, Any] = EXACT, learned: bool = True
) -> EvaluationRun:
    version: DatasetVersion = make_version()
    digest = run_document(make_run_at("succeeded", version=version, protocol=EXACT))["training_hash"] if learned else ""
    file = path / "lists.csv"
    file.write_text("\n".join(f"{key},{item}" for key, items in lists.items() for item in items), encoding="utf-8")
    model = upload(version, "lists", file, digest, name="Batch")
    algorithms = f"puresvd:factors=4,lists:upload={model.params['upload']},name=Batch"
    return make_run_at("succeeded", version=version, algorithms=algorithms, protocol=protocol)


def listed(participant: Any) -> list[str]:
    slots = RecommendedItem.objects.filter(recommendation_list__participant=participant).order_by("rank")
    return list(slots.values_list("item__external_id", flat=True))


def shown_to(study: Study, ratings_of: list[int] | None = None, **about: Any) -> list[str]:
    """What the next participant in the condition of the lists is shown."""
    for _number in range(4):
        participant = assigned(study, **about)
        if participant.condition is not None and participant.condition.label == "Batch":
            for item, rating in zip(items_of(study, 5), ratings_of or [1, 2, 3, 4, 5], strict=True):
                ratings.rate_item(participant=participant, item=item, rating=rating)
            recommending.finish_rating(participant=participant)
            return listed(participant)
    raise AssertionError("nobody was assigned to the lists")


def test_participants_get_the_list_of_their_profile_or_that_of_everyone(tmp_path: Path) -> None:
    own = ["9", "8", "7", "6", "1", "11", "12"]  # one of them rated
    study = make_study(
        run=run_with(tmp_path, {"*": EVERYONE, OWN: own, "participant:K3": ["30", "31"]}), per_condition=3
    )
    assert shown_to(study) == ["9", "8", "7", "6", "11"]
    assert shown_to(study, [5, 2, 3, 4, 5]) == EVERYONE[:5]
    condition = Condition.objects.get(study=study, label="Batch")
    served = recommend_in(study=study, condition=condition, ratings={0: 1}, n=2, context={"participant": "K3"})
    assert [index + 1 for index in served.items] == [30, 31]

    files = write_export(study, "profiles", tmp_path / "export")
    data = next(file.name for file in files if file.name.endswith("profiles_data.csv"))
    with (tmp_path / "export" / data).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["participant"] for row in rows} == {
        f"participant:{public_ids(study)[pk]}"
        for pk in study.participants.exclude(recommendation_lists=None).values_list("pk", flat=True)
    }
    first = [row for row in rows if row["key"] == OWN]
    assert [(row["item"], float(row["rating"])) for row in first] == [(str(n), n) for n in (1, 2, 3, 4, 5)]
    assert {row["segment"] for row in first} == {"segment:Comedy"}


def test_participants_get_the_list_of_their_answer(tmp_path: Path) -> None:
    women, others = ["9", "8", "7", "6", *map(str, range(10, 20))], [str(number) for number in range(20, 34)]
    lists = {"*": EVERYONE, "segment:gender=woman": women, "segment:recommender_experience=no": others}
    run = run_with(tmp_path, lists)
    words = model_rows(run)[1].cells[COVERED_PROFILES]
    assert words.value == 1
    assert words.reason.endswith("of the items; those by answers to questions are not measured")
    study = make_study(run=run, per_condition=4)
    assert shown_to(study) == women[:5]
    assert shown_to(study, gender="man") == others[:5]  # all women too, whose list comes first in the file


def test_lists_by_answers_are_of_questions_that_everyone_is_asked(tmp_path: Path) -> None:
    levels = ("primary", "lower_secondary", "upper_secondary", "bachelor", "master", "doctorate", "not_said")
    lists = {f"segment:education={each}": EVERYONE for each in levels}
    study = make_study(status="draft", run=run_with(tmp_path, lists | {OWN: EVERYONE}))
    question = next(each for each in study.questionnaire["about"] if each["key"] == "education")

    def problem(**changed: Any) -> str:
        before = dict(question)
        question.update(changed)
        said = " ".join(coverage_problems(study))
        question.clear()
        question.update(before)
        return said

    assert problem() == ""
    more = [*question["choices"], {"value": "none", "label": {"en": "None", "it": "Nessuno"}}]
    assert "There is no list for everyone (*), and none of segment:education=none. Upload" in problem(choices=more)
    assert "no list for everyone (*), and none of segment:education=other" in problem(other={"en": "Other", "it": "x"})
    assert problem(choices=more, admits={"values": list(levels)}) == ""
    for changed in ({"may_decline": True}, {"required": False}):
        assert "There is no list for everyone (*). Upload" in problem(**changed)
    assert "no participant gets its lists segment:education=not_said." in problem(choices=question["choices"][:6])
    assert "no participant gets its lists segment:education=primary, segment:education=lower_secondary" in problem(
        identifies=True
    )


def test_a_list_that_is_too_short_pauses_the_study_and_is_never_filled(tmp_path: Path) -> None:
    study = make_study(run=run_with(tmp_path, {"*": EVERYONE, OWN: ["9", "8"]}), per_condition=3)
    with pytest.raises(ParallaxError) as refused:
        shown_to(study)
    assert refused.value.code == "study.model_unavailable"
    study.refresh_from_db()
    assert study.status == "paused"
    assert "The uploaded lists have 2 of 5 items." in study.notices.get().text


@pytest.mark.parametrize(
    ("lists", "more", "said"),
    [
        (
            {"segment:Comedy": EVERYONE, "participant:K3": EVERYONE},
            {},
            r"Batch: its uploaded lists cover \d of 6 reserved users \(\d+%\). There is no list for everyone \(\*\). "
            r"Upload lists with the key \* in which it and every segment have at least 10 items",
        ),
        ({"*": EVERYONE, "segment:Drama": EVERYONE[:7]}, {}, r"The list of segment:Drama has 7\."),
        (
            {"*": EVERYONE},
            {"learned": False},
            "may have seen the test ratings: .* The primary comparison cannot include it",
        ),
        ({"segment:Comedy": EVERYONE}, {}, r"Batch covers \d+% of the test profiles of run \d+ .* less than 80%"),
        ({"*": EVERYONE}, {"protocol": {**EXACT, "mode": "sampled"}}, "no recall of it: not measurable from lists"),
        ({"*": EVERYONE, "segment:mood=calm": EVERYONE}, {}, "no participant gets its lists segment:mood=calm"),
        ({"*": EVERYONE, "segment:gender=woman": EVERYONE[:7]}, {}, "The list of segment:gender=woman has 7"),
        ({"*": EVERYONE}, {}, ""),
    ],
    ids=[
        "no list for everyone",
        "a short segment",
        "may have seen",
        "below 80%",
        "sampled",
        "of nobody",
        "a short answer",
        "nothing",
    ],
)
def test_launches_are_refused_with_the_remedy(
    lists: dict[str, list[str]], more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    problems = launch_problems(make_study(status="draft", run=run_with(tmp_path, lists, **more)))
    assert any(re.search(said, problem) for problem in problems) if said else problems == []


def test_lists_in_turn_need_uploaded_lists_that_last_for_all_of_them(tmp_path: Path) -> None:
    study = make_study(
        status="draft",
        run=run_with(tmp_path, {"*": EVERYONE[:14], "segment:Drama": EVERYONE}),
        settings={"flow": IN_TURN},
    )
    problems = launch_problems(study)
    assert len(problems) == 1
    assert "The list of * has 14." in problems[0]
    # Five are rated, and each of two lists shows five others.
    assert "at least 15 items: participants rate up to 5, and 10 others are recommended" in problems[0]
    change_design(study=study, settings={"flow": flow(shown="in_turn", leave_out="nothing")})
    assert launch_problems(Study.objects.get(pk=study.pk)) == []
