"""Studies of recommenders crossed with presentations: their conditions, design and pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from core.errors import ParallaxError
from core.provenance import digest_of
from evaluation.models import EvaluationRun
from studies.console.forms.conditions import ConditionsForm
from studies.design.selectors.available_models import available_models, positions_in
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import change_design, create_study
from studies.design.services.duplicating import duplicate_study
from studies.design.services.launch import design_snapshot, launch_problems
from studies.models import Study
from studies.presentation import Factor
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

TEXTS: dict[str, Any] = {
    "key": "text",
    "levels": [
        {"name": "plain", "presentation": {}},
        {
            "name": "explained",
            "presentation": {
                "explanation": "model",
                "fallback": {"en": "Many people like it.", "it": "Piace a molti."},
            },
        },
    ],
}
CROSSED = [{"key": "recommender", "levels": [{"recommender": "PureSVD4"}, {"recommender": "CorNgr"}]}, TEXTS]


@pytest.fixture
def run() -> EvaluationRun:
    return make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")


@pytest.fixture
def crossed(run: EvaluationRun) -> Study:
    return create_study(
        slug="crossed", version=run.version, run=run, per_condition=2, seed=1, owner=UserFactory(),
        settings={"factors": CROSSED, "block_multiples": [1]},
    )  # fmt: skip


def labels_of(study: Study) -> list[str]:
    return list(study.conditions.order_by("position").values_list("label", flat=True))


def digests_of(study: Study, *labels: str) -> list[str]:
    by_label = {entry.label: entry.model.digest for entry in available_models(study, None)}
    return [by_label[label] for label in labels]


def test_the_product_of_the_factors_is_the_conditions(crossed: Study) -> None:
    conditions = list(crossed.conditions.order_by("position"))
    assert labels_of(crossed) == [
        "PureSVD4 · plain", "PureSVD4 · explained", "CorNgr · plain", "CorNgr · explained",
    ]  # fmt: skip
    assert [condition.levels for condition in conditions][1] == {"recommender": "PureSVD4", "text": "explained"}
    assert [condition.shown.explains for condition in conditions] == [False, True, False, True]
    assert len({condition.model_digest for condition in conditions}) == 2
    assert {condition.target for condition in conditions} == {2}
    positions = positions_in(crossed, crossed.run)
    assert positions[0] == positions[1] != positions[2] == positions[3]


def test_cells_without_a_model_are_refused(run: EvaluationRun) -> None:
    factors = [{"key": "recommender", "levels": [{"recommender": "LSA"}, {"recommender": "TopPop"}]}, TEXTS]
    with pytest.raises(ParallaxError, match=r"no model: LSA · plain, LSA · explained\. Run .* TopPop, CorNgr"):
        create_study(slug="lacking", version=run.version, run=run, settings={"factors": factors})
    with pytest.raises(ParallaxError, match=r"no model: CorNgr · plain, CorNgr · explained"):
        create_study(slug="some", version=run.version, run=run, labels=["PureSVD4"], settings={"factors": CROSSED})
    assert not Study.objects.exists()


def test_a_design_without_factors_has_the_snapshot_of_before() -> None:
    study = make_study(status="draft")
    snapshot = design_snapshot(study)
    assert {name for condition in snapshot["conditions"] for name in condition} == {
        "label", "algorithm", "params", "model", "target",
    }  # fmt: skip
    assert "factors" not in snapshot["settings"]
    before = digest_of(snapshot)
    # Chosen again with no presentations, the design is what it was.
    choose_conditions(study=study, digests=digests_of(study, *labels_of(study)), presentations=[])
    study.refresh_from_db()
    assert digest_of(design_snapshot(study)) == before


def test_the_snapshot_of_a_crossed_design_tells_the_conditions_of_a_model_apart(crossed: Study) -> None:
    plain, explained, *_ = design_snapshot(crossed)["conditions"]
    assert plain["model"] == explained["model"]
    assert "presentation" not in plain
    assert plain["levels"] == {"recommender": "PureSVD4", "text": "plain"}
    assert explained["presentation"] == TEXTS["levels"][1]["presentation"]


def test_a_factor_is_added_to_a_draft_and_taken_out_again(run: EvaluationRun) -> None:
    draft = make_study(run=run, status="draft", per_condition=3)
    change_design(study=draft, targets={0: 5})
    factor = Factor.model_validate_json(json.dumps(TEXTS))
    digests = digests_of(draft, "TopPop", "PureSVD4")
    choose_conditions(study=draft, digests=digests, presentations=[factor])
    assert labels_of(draft) == ["TopPop · plain", "TopPop · explained", "PureSVD4 · plain", "PureSVD4 · explained"]
    # The condition that stayed keeps its target.
    assert list(draft.conditions.order_by("position").values_list("target", flat=True)) == [5, 3, 3, 3]
    draft.refresh_from_db()
    assert [factor.key for factor in draft.design.factors] == ["recommender", "text"]
    # Other models are crossed with the presentations that the design has.
    choose_conditions(study=draft, digests=digests_of(draft, "CorNgr", "TopPop"))
    assert labels_of(draft) == ["CorNgr · plain", "CorNgr · explained", "TopPop · plain", "TopPop · explained"]
    choose_conditions(study=draft, digests=digests, presentations=[])
    draft.refresh_from_db()
    assert labels_of(draft) == ["TopPop", "PureSVD4"]
    assert draft.design.factors == ()
    assert all(not condition.levels and not condition.presentation for condition in draft.conditions.all())


def test_the_order_of_factors_stays_and_no_model_is_refused(run: EvaluationRun) -> None:
    study = create_study(
        slug="turned", version=run.version, run=run, owner=UserFactory(), settings={"factors": CROSSED[::-1]}
    )
    choose_conditions(study=study, digests=digests_of(study, "TopPop", "PureSVD4"))
    assert labels_of(study) == ["plain · TopPop", "plain · PureSVD4", "explained · TopPop", "explained · PureSVD4"]
    with pytest.raises(ParallaxError, match="at least 2 conditions"):
        choose_conditions(study=study, digests=[])


def test_conditions_that_are_not_the_product_are_refused(crossed: Study) -> None:
    with pytest.raises(ParallaxError, match="No factors are set"):
        change_design(study=crossed, settings={"factors": []})
    crossed.conditions.filter(label="CorNgr · plain").delete()
    (problem,) = [text for text in launch_problems(crossed) if "cells" in text]
    assert problem == "The factors have cells without a condition: CorNgr · plain. Choose the conditions again."


def test_a_copy_has_the_same_conditions(crossed: Study) -> None:
    made = duplicate_study(study=crossed, slug="second", title="Second", actor=UserFactory())
    before, after = design_snapshot(crossed), design_snapshot(made)
    after.pop("assignment_seed_sha256")
    assert after == before


def test_the_page_of_conditions_crosses_models_with_a_presentation(client: Client, run: EvaluationRun) -> None:
    owner = UserFactory()
    draft = make_study(run=run, status="draft", per_condition=3, owner=owner)
    client.force_login(owner)
    digests = digests_of(draft, "TopPop", "PureSVD4")
    save(client, draft, recommenders=digests, presentation=["plain", "explained"])
    assert labels_of(draft) == ["TopPop · plain", "TopPop · explained", "PureSVD4 · plain", "PureSVD4 · explained"]
    form = ConditionsForm(Study.objects.get(pk=draft.pk), researcher=owner)
    assert form.initial["presentation"] == ["plain", "explained"]
    draft.refresh_from_db()
    assert [factor.key for factor in draft.design.factors] == ["recommender", "explanation"]
    save(client, draft, recommenders=digests, presentation=["shuffled", "grid", "plain"])
    assert labels_of(draft)[:3] == ["TopPop · shuffled", "TopPop · grid", "TopPop · plain"]
    draft.refresh_from_db()
    assert [factor.key for factor in draft.design.factors] == ["recommender", "presentation"]
    save(client, draft, recommenders=digests, presentation=["grid"])
    assert labels_of(draft) == ["TopPop", "PureSVD4"]
    assert {condition.shown.layout for condition in draft.conditions.all()} == {"grid"}
    _field, _chosen, others = ConditionsForm(draft, researcher=owner).rows[2]
    assert [words for words in others.values() if "List of" in words] == ["List of 3", "List of 10"]
    save(client, draft, recommenders=digests, presentation=["plain", "list of 3"])
    assert labels_of(draft)[:2] == ["TopPop · plain", "TopPop · list of 3"]
    draft.refresh_from_db()
    assert [factor.key for factor in draft.design.factors] == ["recommender", "length"]
    assert {draft.design.listed_in(condition.shown) for condition in draft.conditions.all()} == {5, 3}
    save(client, draft, recommenders=digests, presentation=["plain"])
    assert labels_of(draft) == ["TopPop", "PureSVD4"]
    draft.refresh_from_db()
    assert "factors" not in draft.settings


def test_the_page_crosses_recommenders_with_post_processing(client: Client) -> None:
    run = make_run_at(
        "succeeded", algorithms="toppop,puresvd:factors=4,puresvd:factors=4|mmr:strength=0.3,toppop|popularity"
    )
    draft = make_study(run=run, status="draft", per_condition=3)
    owner = draft.researchers.get()
    client.force_login(owner)
    # Models that are no product are recommenders, each of them.
    form = ConditionsForm(draft, researcher=owner)
    assert [list(chosen.values()) for _field, chosen, _others in form.rows] == [
        ["TopPop", "PureSVD4", "PureSVD4 + MMR 0.3", "TopPop + Popularity 0.3"], ["As ranked"], ["List of 5"],
    ]  # fmt: skip
    (svd,) = digests_of(draft, "PureSVD4")
    save(client, draft, recommenders=[svd], doses=["as ranked", "MMR 0.3"])
    assert labels_of(draft) == ["PureSVD4", "PureSVD4 + MMR 0.3"]
    form = ConditionsForm(Study.objects.get(pk=draft.pk), researcher=owner)
    assert [list(chosen.values()) for _field, chosen, _others in form.rows] == [
        ["PureSVD4"], ["As ranked", "MMR 0.3"], ["List of 5"],
    ]  # fmt: skip
    # Cells without a model are refused, beside every other fault, and nothing is stored.
    target = f"target{draft.conditions.get(label='PureSVD4').pk}"
    faults = {
        "recommenders": [*digests_of(draft, "TopPop"), svd], "doses": ["MMR 0.3", "Popularity 0.3"],
        "presentation": [], target: "0", "wording_en": "Like others",
    }  # fmt: skip
    errors = save(client, draft, **faults).context["form"].errors
    assert errors["doses"] == [
        "No run measured: TopPop, MMR 0.3; PureSVD4, Popularity 0.3. Evaluate them in one run with the others, or "
        "remove a level."
    ]
    assert set(errors) == {"doses", "presentation", target, "wording_en"}
    assert labels_of(draft) == ["PureSVD4", "PureSVD4 + MMR 0.3"]


def test_the_page_stores_targets_and_levels_are_changed_by_buttons(client: Client, run: EvaluationRun) -> None:
    draft = make_study(run=run, status="draft", per_condition=3)
    client.force_login(draft.researchers.get())
    first, second, third = (f"target{pk}" for pk in draft.conditions.order_by("position").values_list("pk", flat=True))
    digests = digests_of(draft, "TopPop", "CorNgr", "PureSVD4")
    save(client, draft, recommenders=digests, **{first: "5", second: "3", third: ""})
    assert list(draft.conditions.order_by("position").values_list("target", flat=True)) == [5, 3, 3]
    errors = save(client, draft, recommenders=digests, **{first: "6", third: ""}).context["form"].errors
    assert errors == {third: ["Enter how many participants this condition needs."]}
    assert list(draft.conditions.order_by("position").values_list("target", flat=True)) == [6, 3, 3]
    # A target of a condition that goes with its level is not asked any more.
    save(client, draft, recommenders=digests[:2], **{first: "7", third: ""})
    assert list(draft.conditions.order_by("position").values_list("target", flat=True)) == [7, 3]
    page = save(client, draft, recommenders=digests[:2], step="add:presentation:grid")
    assert list(page.context["form"].rows[2][1]) == ["plain", "grid"]
    assert "Not saved yet" in page.content.decode()
    page = save(client, draft, recommenders=digests[:2], step=f"remove:recommenders:{digests[0]}")
    assert list(page.context["form"].rows[0][1]) == digests[1:2]
    assert labels_of(draft) == ["TopPop", "CorNgr"]
    errors = save(client, draft, recommenders=digests[:1], **{first: "0"}).context["form"].errors
    assert errors["recommenders"] == ["A comparison needs at least 2 conditions."]
    assert set(errors) == {"recommenders", first}


def test_opening_and_saving_the_page_leaves_designs_as_they_were(client: Client, crossed: Study) -> None:
    owner = crossed.researchers.get()
    client.force_login(owner)
    before = digest_of(design_snapshot(crossed))
    form = ConditionsForm(crossed, researcher=owner)
    page = client.get(f"/studies/{crossed.slug}/conditions/").content.decode()
    assert page.count('aria-label="Remove ') == 2 + 1 + 2
    stored = form.stored_values()
    save(client, crossed, **{**stored, "fallback_de": ""})
    assert digest_of(design_snapshot(Study.objects.get(pk=crossed.pk))) == before


def test_the_page_words_explanations_in_each_language(client: Client, run: EvaluationRun) -> None:
    owner = UserFactory()
    draft = make_study(run=run, status="draft", per_condition=3, owner=owner)
    client.force_login(owner)
    explained = ["plain", "explained"]
    chosen = {"recommenders": digests_of(draft, "TopPop", "PureSVD4"), "presentation": explained}
    texts = {"fallback_en": "Many people like it.", "fallback_it": "Piace a molti.", "wording_en": "Like {items}"}
    save(client, draft, **chosen, **texts)
    assert draft.conditions.get(label="TopPop · explained").presentation == {
        "explanation": "model",
        "fallback": {"en": "Many people like it.", "it": "Piace a molti."},
        "wording": {"en": "Like {items}"},
    }
    form = ConditionsForm(Study.objects.get(pk=draft.pk), researcher=owner)
    assert form.initial["presentation"] == explained
    assert form["wording_en"].initial == "Like {items}"
    # A wording without its items is not saved, and what else is entered is.
    save(client, draft, **chosen, **{**texts, "fallback_en": "It is popular.", "wording_en": "Like others"})
    presentation = draft.conditions.get(label="TopPop · explained").presentation
    assert (presentation["fallback"]["en"], presentation["wording"]) == ("It is popular.", {"en": "Like {items}"})
    save(client, draft, **{**chosen, "presentation": ["plain", "shuffled"]}, fallback_en="It is popular.")
    assert labels_of(draft)[1] == "TopPop · explained"  # a text without explanations keeps the form from being saved
    save(client, draft, **chosen)
    assert draft.conditions.get(label="TopPop · explained").presentation == {"explanation": "model"}


def test_the_page_keeps_factors_that_it_does_not_offer(client: Client, run: EvaluationRun) -> None:
    shown = {
        "key": "look",
        "levels": [
            {"name": "grid", "presentation": {"layout": "grid"}},
            {"name": "list", "presentation": {"layout": "list"}},
        ],
    }
    study = create_study(
        slug="three", version=run.version, run=run, owner=UserFactory(), settings={"factors": [*CROSSED, shown]}
    )
    owner = study.researchers.get()
    client.force_login(owner)
    form = ConditionsForm(study, researcher=owner)
    assert [(field.label, len(chosen)) for field, chosen, _others in form.rows] == [
        ("Recommender", 2), ("Post-processing", 1), ("Text", 2), ("Look", 2),
    ]  # fmt: skip
    save(client, study, recommenders=digests_of(study, "TopPop", "PureSVD4"), presentation2=["grid"])
    study.refresh_from_db()
    assert [factor.key for factor in study.design.factors] == ["recommender", "text", "look"]
    assert labels_of(study)[:2] == ["TopPop · plain", "TopPop · explained"]


def save(client: Client, study: Study, **fields: Any) -> Any:
    """Post the page with what it shows, and these fields instead of their stored values."""
    study.refresh_from_db()
    form = ConditionsForm(study, researcher=study.researchers.get())
    levels = {"doses": ["as ranked"], **{name: form.stored_values()[name] for name in form.stored}}
    shown = {"presentation": ["plain"], **levels, **fields, "revision": form.revision()}
    response = client.post(f"/studies/{study.slug}/conditions/", shown)
    assert response.status_code in (200, 302), response.content
    return response
