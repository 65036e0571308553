"""Generalisation over participants and items in a report, and what the first screen says of contradictions."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from analysis.exports.document import document_of
from analysis.narrative import generalisation
from analysis.results.codec import decode
from analysis.results.report import Results
from analysis.selectors.inputs import Answers
from analysis.services import build_report
from analysis.services.item_effects import item_models
from inference.item_effects import NESTED, ItemEffectsResult
from inference.results import Undefined
from studies.models import Study
from tests.analysis.test_effects import answers_with, results_of, words_of
from tests.factories.analysis import page_without_pictures, planted_person
from tests.factories.results import partial

LABELS = "ABC"


@pytest.fixture
def answers() -> Answers:
    """A is liked more than B by a step and a half; C lies between."""
    rng = np.random.default_rng(4)
    lists: dict[str, list[list[int]]] = {}
    for name, centre in {"A": 3.9, "B": 2.3, "C": 3.1}.items():
        leanings = centre + rng.normal(0, 0.7, 20)
        lists[name] = [np.clip(np.rint(one + rng.normal(0, 0.8, 5)), 1, 5).astype(int).tolist() for one in leanings]
    return answers_with(lists)


@pytest.mark.unit
def test_both_models_are_in_the_results(answers: Answers) -> None:
    results = results_of(answers)
    observed = [sum(person.accuracy_sum for person in answers.of(name)) / 100 for name in LABELS]
    for key in ("nested", "crossed"):
        model = results[key]
        assert (model["n_items"], model["n_persons"], model["n_answers"]) == (5, 60, 300)
        assert [one["mean"] for one in model["conditions"]] == pytest.approx(observed, abs=1e-6)
    # All participants rated the same five items: these do not separate the algorithms if they are crossed with them.
    widths = [results[key]["pairs"]["pairs"][0]["se"] for key in ("nested", "crossed")]
    assert widths[0] >= widths[1]


@pytest.mark.unit
def test_section_says_which_question_each_model_answers(answers: Answers) -> None:
    text = words_of(results_of(answers))
    assert (
        "Generalised to other participants and to other items from the same algorithms (items nested in algorithms), "
        "the ratings of single items differed significantly between the algorithms, F(2, "
    ) in text
    assert (
        "This model with Holm's correction confirms every pair that Tukey's HSD orders in perceived accuracy." in text
    )
    assert "Beyond the items themselves (items crossed with algorithms), the ratings of single items" in text
    assert "it does not test whether an algorithm is perceived as better" in text


@pytest.mark.unit
def test_pairs_that_do_not_generalise_are_named(answers: Answers) -> None:
    results = results_of(answers)
    results["nested"]["p"] = 0.4
    results["nested"]["pairs"]["pairs"][0] |= {"p": 0.2, "is_significant": False}
    text = words_of(results)
    assert "(items nested in algorithms), we found no significant difference between the algorithms" in text
    assert "This model with Holm's correction does not confirm these of Tukey's pairs: A over B." in text


@pytest.mark.unit
def test_reports_of_older_versions_have_the_crossed_model_only(answers: Answers) -> None:
    results = results_of(answers)
    older = copy.deepcopy(results["crossed"])
    del older["df_denominator"]
    for condition in older["conditions"]:
        del condition["df"]
    for pair in older["pairs"]["pairs"]:
        del pair["interval"]
    results |= {"nested": None, "crossed": older}
    text = words_of(results)
    assert "This report lacks the model with items nested in algorithms" in text
    assert f"Wald χ²(2) = {older['chi_squared']:.2f}, p " in text
    assert "(large-sample)" in text
    assert "Generalised to other participants" not in text


@pytest.mark.unit
def test_ratings_that_are_not_all_at_hand_are_said() -> None:
    whole = answers_with({"A": [[3] * 5], "B": [[4] * 5]})
    part = Answers(whole.conditions, whole.people, whole.shown[1:], 10, 0, 0)
    assert item_models(part) == (Undefined("The ratings of single items are incomplete.", NESTED),) * 2


def first_screen(perceived: str, objective: str, **changes: Any) -> str:
    """The sentence for these orders of A, B and C, best first; every pair differs by 0.30 with p = .200."""
    pairs = [
        {"a": a, "b": b, "difference": 0.3 if perceived.index(a) < perceived.index(b) else -0.3, "p": 0.2, "se": 0.2,
         "is_significant": False}
        for a, b in ("AB", "AC", "BC")
    ]  # fmt: skip
    for pair in pairs:
        pair |= changes.get(f"{pair['a']}{pair['b']}", {})
    verdicts = changes.get("contradicted", [])
    comparison = {
        "variable": changes.get("variable", "accuracy"), "kind": "recall", "is_primary": True,
        "conditions": list(LABELS),
        "ranks": {
            "perceived": {name: perceived.index(name) + 1.0 for name in LABELS},
            "objective": {name: objective.index(name) + 1.0 for name in LABELS},
        },
        "orders": {"pairs": [{"a": a, "b": b, "verdict": "contradicted"} for a, b in verdicts]},
    }  # fmt: skip
    model = changes.get("model", {"is_defined": True, "pairs": {"pairs": pairs}})
    results: Results = partial(Results, {"comparisons": [comparison], "flow": {"analysed": 30}})
    nested = None if model is None else partial(ItemEffectsResult | Undefined, model)
    object.__setattr__(results, "nested", nested)
    return generalisation.unconfirmed(results)


@pytest.mark.unit
def test_first_screen_names_a_winner_that_is_not_confirmed() -> None:
    assert first_screen("ABC", "BAC") == (
        "The ranking of A over B in perceived accuracy, which contradicts recall, is not confirmed for other items "
        "from the same algorithms (difference 0.30, SE = 0.20, corrected p = .200)."
    )
    assert "The ranking of C over A in perceived accuracy" in first_screen("CAB", "ACB")


@pytest.mark.unit
def test_first_screen_is_silent_without_an_unconfirmed_contradiction() -> None:
    assert first_screen("ABC", "ACB") == ""
    assert first_screen("ABC", "BAC", AB={"is_significant": True, "p": 0.001}) == ""
    assert first_screen("ABC", "BAC", variable="satisfaction") == ""
    assert first_screen("ABC", "BAC", model=None) == ""


@pytest.mark.unit
def test_first_screen_does_not_take_a_reversed_difference_for_a_confirmation() -> None:
    reversed_pair = {"difference": -0.3, "is_significant": True, "p": 0.01}
    assert "(difference −0.30, SE = 0.20, corrected p = .010)" in first_screen("ABC", "BAC", AB=reversed_pair)


@pytest.mark.unit
def test_first_screen_counts_several_contradictions() -> None:
    contradicted = [("A", "B"), ("A", "C"), ("B", "C")]
    assert first_screen("ABC", "CBA", contradicted=contradicted, BC={"is_significant": True, "p": 0.01}) == (
        "Of the three pairs that perceived accuracy and recall order in opposite directions, at the top of the "
        "rankings or significantly, two are not confirmed for other items from the same algorithms: A over C "
        "(corrected p = .200) and A over B (corrected p = .200)."
    )


@pytest.mark.unit
def test_first_screen_says_that_no_contradiction_is_confirmed() -> None:
    assert first_screen("ABC", "CBA", contradicted=[("A", "B")]).startswith("Neither of the two pairs that perceived")
    text = first_screen("ABC", "CBA", contradicted=[("A", "B"), ("B", "C")])
    assert text.startswith("None of the three pairs")
    assert (
        "significantly, is confirmed for other items from the same algorithms: A over C (corrected p = .200)," in text
    )


@pytest.mark.unit
def test_first_screen_says_that_the_model_has_no_result() -> None:
    model = {"is_defined": False, "reason": "Every participant rated one item."}
    assert first_screen("ABC", "BAC", model=model) == (
        "Whether the ranking of A over B in perceived accuracy, which contradicts recall, holds with other items from "
        "the same algorithms could not be tested. Every participant rated one item."
    )


@pytest.mark.integration
@pytest.mark.django_db
def test_first_screen_of_a_report_has_the_sentence(study: Study) -> None:
    lists = {
        "TopPop": ([4, 3, 2, 4, 1], [2, 3, 4, 1, 2], [3, 1, 4, 2, 3]),
        "CorNgr": ([4, 3, 5, 2, 3], [3, 5, 2, 4, 3]),
    }
    for label, given in lists.items():
        for ratings in given:
            planted_person(study, label, ratings, 3)
    report = build_report(study=study)
    document, page = document_of(report), page_without_pictures(report)
    sentence = "The ranking of CorNgr over TopPop in perceived accuracy, which contradicts recall, is not confirmed"
    assert any(limit.startswith(sentence) for limit in document.limits)
    assert sentence in page
    assert decode(Results, report.results).nested == report.read_results().nested
    assert "items nested in algorithms" in page
