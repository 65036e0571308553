"""Studies that leave out the questions of 2011: the plan names other outcomes, from consent to the report."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from analysis.files.contents import write_people
from analysis.services.report_builder import build_report
from core.errors import DataError, ParallaxError
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.presets.loader import load_preset
from studies.design.services.design import create_study
from studies.design.services.launch import launch_study
from studies.instrument.measures import item_measures, participant_measures
from studies.instrument.questionnaires.core import core_problems, measures_of
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study
from studies.settings import AnalysisPlan
from tests.factories.accounts import UserFactory
from tests.factories.analysis import every_page
from tests.factories.evaluation import make_run_at
from tests.factories.walking import Person

CORE = load_preset("cremonesi-2011").questionnaire


def likert(key: str, text: str) -> dict[str, Any]:
    return {"key": key, "kind": "likert", "minimum": 1, "maximum": 5, "text": {"en": text, "it": text}}


ITEMS = {"key": "items", "kind": "item_questions", "block": "items"}
LIST = {"key": "recommendations", "kind": "list"}
OVERALL = {"key": "overall", "kind": "questions", "block": "overall"}


def make(*, with_items: bool = True, launched: bool = True, **plan: Any) -> Study:
    run = make_run_at("succeeded")
    flow = [
        {"key": "rate", "kind": "elicit"},
        {"lists": {"pages": [LIST, *([ITEMS] if with_items else []), OVERALL]}},
        {"key": "thanks", "kind": "end"},
    ]
    questionnaire = {
        "about": [],
        "items": [likert("interest", "How interesting is it?"), likert("topic_fit", "It fits my topics.")] * with_items,
        "overall": [likert("variety", "The list is varied."), likert("difficulty", "Choosing was difficult.")],
    }
    outcomes = ["items.interest"] * with_items + ["overall.variety", "overall.difficulty"]
    study = create_study(
        slug="news", version=run.version, run=run, per_condition=3, seed=1, owner=UserFactory(),
        questionnaire=questionnaire,
        settings={
            "flow": flow, "strata": [], "block_multiples": [1],
            "primary": {"perceived": outcomes[0], "objective": "recall"},
            "plan": {"variables": [], "outcomes": outcomes, **plan},
        },
    )  # fmt: skip
    if launched:
        launch_study(study=study)
        study.refresh_from_db()
    return study


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("with_items", [True, False])
def test_a_study_without_the_core_is_walked_exported_and_reported(with_items: bool, tmp_path: Path) -> None:
    study = make(with_items=with_items)
    n = 3 * study.conditions.count()
    for _ in range(n):
        pages = [page.step for page in Person(study).pages()]
        items = ["item"] * 5 * with_items
        assert pages == ["consent", "rate", "recommendations", *items, "overall", "thanks"]
    for kind in ("wide", "long", "pages", "json"):
        write_export(study, kind, tmp_path / kind, Options())
    with (tmp_path / "long" / "study-news_long_data.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert {row["participant.is_complete"] for row in rows} == {"1"}
    assert not [name for name in rows[0] if name.startswith(("measure.", "item.fon", "item.son", "item.branch"))]
    assert ("item.interest" in rows[0]) == with_items

    report = build_report(study=study)
    results = report.read_results()
    outcomes = ["items.interest"] * with_items + ["overall.variety", "overall.difficulty"]
    assert [variable.key for variable in results.variables] == outcomes
    assert results.flow.analysed == n
    assert results.study.not_asked == ("accuracy", "fon", "son", "satisfaction")
    assert (results.liking, results.nested, results.novelty) == ((), None, None)
    if with_items:
        values = [float(row["item.interest"]) for row in rows]
        shown = results.variables[0].described.values()
        assert sum(own.mean * own.n for own in shown) / n == pytest.approx(sum(values) / len(values))
    (tmp_path / "data").mkdir()
    write_people(report, tmp_path)
    analysed = (tmp_path / "data" / "analysed.csv").read_text(encoding="utf-8").splitlines()[0]
    assert analysed == f"participant.id,condition,{','.join(outcomes)}"
    client = Client()
    client.force_login(study.memberships.get().researcher)
    assert "The list is varied" in every_page(client, report)
    for page in ("", "plan/", "questionnaire/", "quality/", "launch/", "preregistration/osf.md"):
        assert client.get(f"/studies/news/{page}", follow=True).status_code == 200, page


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"variables": ["accuracy"]}, "'rating' is missing, but perceived accuracy is computed from it"),
        ({"variables": ["fon"]}, "'watched' is missing, but first-order novelty is computed from it"),
        ({"outcomes": ["items.interest", "overall.fun"]}, "names the outcome 'overall.fun'"),
        ({"outcomes": ["overall.variety"]}, "leaves out items.interest"),
        ({"outcomes": []}, "The plan tests nothing"),
    ],
)
def test_a_plan_names_what_is_asked(plan: dict[str, Any], said: str) -> None:
    with pytest.raises(ParallaxError, match=said):
        make(launched=False, **plan)


@pytest.mark.unit
def test_measures_are_those_whose_questions_are_asked() -> None:
    def without(*keys: str) -> Any:
        kept = {block: [q for q in CORE[block] if q["key"] not in keys] for block in ("items", "overall")}
        return questionnaire_from({**kept, "about": []})

    assert measures_of(without()) == {"accuracy", "fon", "son", "satisfaction"}
    assert measures_of(without("rating")) == {"fon", "son", "satisfaction"}
    assert measures_of(without("satisfaction", "trailer_seen")) == {"accuracy", "fon", "son"}
    assert core_problems(without("rating"), ["fon", "scale.trust"]) == []


@pytest.mark.unit
def test_measures_that_are_not_asked_are_none() -> None:
    rated = [item_measures(rating=rating, measures=["accuracy", "satisfaction"]) for rating in (2, 5)]
    measures = participant_measures(rated, None)
    assert (measures.accuracy, measures.fon, measures.son, measures.liking, measures.satisfaction) == (
        3.5, None, None, None, None,
    )  # fmt: skip
    new = item_measures(watched=False, measures=["fon"])
    assert (new.rating, new.fon, new.son, new.branch) == (None, 1, None, "neither")
    known = participant_measures([new, item_measures(watched=True, measures=["fon"])], 4)
    assert (known.fon, known.n_liking, known.n_interest, known.liking, known.interest) == (0.5, 1, 1, None, None)


@pytest.mark.unit
def test_an_answer_that_a_measure_lacks_is_an_error() -> None:
    with pytest.raises(DataError, match="First-order novelty needs the answer `watched`"):
        item_measures(rating=3)


@pytest.mark.unit
def test_a_plan_stores_outcomes_only_where_it_names_some() -> None:
    assert "outcomes" not in AnalysisPlan().in_full()
    assert AnalysisPlan(variables=(), outcomes=("after.fun",)).in_full()["outcomes"] == ["after.fun"]
