"""Effects, single answers, correlations and items in a report: the planted is found, and little is said in words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.compute.follow_up import correlations_of, effects_of_all, effects_of_scale, nested_model
from analysis.compute.perceived import groups_of, study_variable
from analysis.enums import VARIABLE_OF, VARIABLES
from analysis.present import follow_up as said
from analysis.read.inputs import Answers, Person, ScaleAnswers, Shown
from analysis.results.codec import decode, encode
from analysis.results.follow_up import CorrelatedVariables, Effects, NoveltyCorrelation, VariableEffects
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import ItemWords, Results
from core.provenance import canonical_json
from inference.effect_sizes import hedges_g_between
from inference.item_effects import ItemEffectsResult
from inference.ordinal import OrdinalResult
from inference.results import Undefined
from tests.factories.results import partial
from tests.sentences import assert_sentences_approved

ITEMS = 5


def answers_with(ratings: dict[str, list[list[int]]], *, watched: int = 1) -> Answers:
    """Participants who rated five items each; the first `watched` were watched, one more heard of."""
    people, shown = [], []
    for condition, lists in ratings.items():
        for number, given in enumerate(lists):
            n_watched = (watched + number) % (ITEMS + 1)
            n_heard = min(ITEMS, n_watched + 1)
            people.append(
                Person(
                    condition=condition,
                    n_items=len(given),
                    accuracy_sum=sum(given),
                    fon_sum=ITEMS - n_watched,
                    son_sum=ITEMS - n_heard,
                    satisfaction=round(sum(given) / len(given)),
                    n_liking=n_watched,
                    liking_sum=sum(given[:n_watched]),
                    n_interest=ITEMS - n_watched,
                    interest_sum=sum(given[n_watched:]),
                )
            )
            shown += [
                Shown(condition, str(place), f"Film {place}", one, 1, 0, "neither", False)
                for place, one in enumerate(given)
            ]
    return Answers(tuple(ratings), tuple(people), tuple(shown), 10 * len(people), 0, 0)


def results_of(answers: Answers) -> dict[str, Any]:
    """What these services add to a report's results, with what sections need beside it."""
    tested = {variable: study_variable(answers, variable) for variable in VARIABLES}
    effects, scale_effects = effects_of_all(answers, VARIABLES)
    whole = {
        "flow": {"analysed": len(answers.people)},
        "plan": {"alpha": 0.05},
        "study": {},
        "variables": encode(tuple[PerceivedVariable, ...], tuple(result for result, _ in tested.values())),
        "effects": encode(tuple[VariableEffects, ...], tuple(effects)),
        "scale_effects": encode(tuple[Effects, ...], tuple(scale_effects)),
        "correlations": encode(tuple[CorrelatedVariables, ...], tuple(correlations_of(answers, VARIABLES)[0])),
        "novelty": encode(NoveltyCorrelation, correlations_of(answers, VARIABLES)[1]),
        "nested": encode(ItemEffectsResult | Undefined, nested_model(answers)[0]),
    }
    plain: dict[str, Any] = json.loads(canonical_json(whole))  # refuses NaN
    return plain


def typed(results: dict[str, Any]) -> Results:
    """The same results as the sections read them."""
    found: Results = partial(
        Results, {key: value for key, value in results.items() if key in ("flow", "plan", "study")}
    )
    for name, hint in (
        ("variables", tuple[PerceivedVariable, ...]),
        ("effects", tuple[VariableEffects, ...]),
        ("scale_effects", tuple[Effects, ...]),
        ("correlations", tuple[CorrelatedVariables, ...]),
        ("novelty", NoveltyCorrelation),
        ("nested", ItemEffectsResult | Undefined | None),
    ):
        object.__setattr__(found, name, decode(hint, results[name]))
    return found


def words_of(results: dict[str, Any]) -> str:
    """Every sentence and every printed cell."""
    found = []
    read = typed(results)
    for section in (
        said.effects_section(read), said.ordinal_section(read), said.correlations_section(read),
        said.generalisation_section(read),
    ):  # fmt: skip
        for block in section.blocks:
            found.append(block.text)
            if block.table:
                assert all(len(row.cells) == block.table.width for row in block.table.rows)
                found += [cell.text for row in block.table.rows for cell in row.cells]
    return "\n".join(found)


@pytest.fixture
def planted() -> Answers:
    """A is liked more than B by a step and a half; C lies between."""
    rng = np.random.default_rng(4)
    lists: dict[str, list[list[int]]] = {}
    for name, centre in {"A": 3.9, "B": 2.3, "C": 3.1}.items():
        leanings = centre + rng.normal(0, 0.7, 20)
        lists[name] = [np.clip(np.rint(one + rng.normal(0, 0.8, ITEMS)), 1, 5).astype(int).tolist() for one in leanings]
    return answers_with(lists)


@pytest.mark.unit
def test_planted_difference_is_the_largest_effect(planted: Answers) -> None:
    results = results_of(planted)
    accuracy = results["effects"][0]
    groups = {name: [person.accuracy_sum / 5 for person in planted.of(name)] for name in "ABC"}
    (first, *_) = accuracy["hedges"]
    assert (first["a"], first["b"]) == ("A", "B")
    assert first["g"] == pytest.approx(hedges_g_between(groups)[0].g)
    assert "A over B, g = " in words_of(results)


@pytest.mark.unit
def test_single_answers_have_the_ordinal_model_and_means_have_not(planted: Answers) -> None:
    results = results_of(planted)
    models = {one["key"]: one["ordinal"] for one in results["effects"]}
    assert models["accuracy"] is models["fon"] is models["son"] is None
    assert [one["condition"] for one in models["satisfaction"]["effects"]] == ["B", "C"]
    assert models["satisfaction"]["effects"][0]["estimate"] < models["satisfaction"]["effects"][1]["estimate"] < 0
    assert "ordinal model" in words_of(results)


@pytest.mark.unit
def test_disagreement_with_the_tests_of_means_is_said(planted: Answers) -> None:
    results = results_of(planted)
    satisfaction = next(one for one in results["variables"] if one["key"] == "satisfaction")
    assert "the same pairs" in words_of(results)
    satisfaction["orders"]["games_howell"]["dominates"] = {"A": [], "B": ["C"], "C": []}
    satisfaction["welch"]["p"] = 0.5
    text = words_of(results)
    assert "confirm B over C" in text
    assert "A over B and C over B" in text
    assert "is significant, unlike" in text


@pytest.mark.unit
def test_correlations_are_taken_within_and_between(planted: Answers) -> None:
    results = results_of(planted)
    pairs = [(one["a"], one["b"]) for one in results["correlations"]]
    assert pairs[0] == ("fon", "son")
    assert len(pairs) == 6
    novelty = results["correlations"][0]
    # Everybody heard of one item more than they watched, but for those who watched all five.
    assert novelty["within"]["coefficient"] > 0.95
    assert "algorithms r = " in words_of(results)
    accuracy = next(one for one in results["correlations"] if (one["a"], one["b"]) == ("accuracy", "satisfaction"))
    assert accuracy["between"]["coefficient"] > 0.9
    assert [one["condition"] for one in accuracy["by_condition"]] == ["A", "B", "C"]


@pytest.mark.unit
def test_opposite_ways_within_and_between_are_said(planted: Answers) -> None:
    results = results_of(planted)
    one = results["correlations"][0]
    one["within"] |= {"coefficient": -0.5, "p": 0.01}
    sure = {"t": None, "df": 1, "n": 3, "left_out": []}
    one["between"] |= {"is_defined": True, "coefficient": 0.9, "p": 0.01, "interval": None, **sure}
    assert "in opposite directions" not in words_of(results)  # not after Holm's correction
    one["p_holm"] |= {"within": 0.01, "between": 0.01}
    assert "in opposite directions" in words_of(results)


@pytest.mark.unit
@pytest.mark.parametrize(
    "ratings",
    [
        pytest.param({"A": [], "B": []}, id="nobody"),
        pytest.param({"A": [[3] * 5] * 4, "B": []}, id="one condition"),
        pytest.param({"A": [[3, 4, 5, 4, 3]], "B": []}, id="one participant"),
        pytest.param({"A": [[3, 4, 5, 4, 3]] * 3, "B": [[1, 2, 1, 2, 1]]}, id="one participant in a condition"),
        pytest.param({"A": [[3] * 5] * 3, "B": [[3] * 5] * 3}, id="all alike"),
        pytest.param({"A": [[5] * 5] * 3, "B": [[1] * 5] * 3}, id="no variance within"),
        pytest.param({"A": [[5] * 5] * 3, "B": [[1, 2, 3, 2, 1], [2] * 5, [4] * 5]}, id="a condition all alike"),
        pytest.param({"A": [[5, 4, 3, 2, 1]], "B": [[1, 2, 3, 4, 5]]}, id="one participant in each"),
    ],
)
def test_little_to_analyse_is_said_without_a_number_that_is_none(ratings: dict[str, list[list[int]]]) -> None:
    text = words_of(results_of(answers_with(ratings)))
    assert not re.search(r"\b([nN]a[nN]|inf|None)\b", text)
    if any(ratings.values()):
        assert "There is no" in text


@pytest.mark.unit
def test_a_scale_of_one_question_has_the_ordinal_model_and_others_have_not() -> None:
    scores = ["2", "3", "3", "4", "3", "4", "5", "2"]
    rows = tuple(("A" if place < 4 else "B", score, (score,)) for place, score in enumerate(scores))
    single = ScaleAnswers("ease", "Ease", 1, 5, ("ease",), (*rows, ("B", None, (None,))))
    answers = answers_with({"A": [[3] * 5] * 4, "B": [[4] * 5] * 5})
    found = effects_of_scale(replace(answers, scales=(single,)), single)
    assert isinstance(found.ordinal, OrdinalResult)
    assert found.ordinal.n == 8
    assert found.ordinal.empty_categories == (1.0,)
    double = ScaleAnswers("ease", "Ease", 1, 5, ("one", "two"), (("A", "7/2", ("3", "4")), *rows))
    answers = answers_with({"A": [[3] * 5] * 5, "B": [[4] * 5] * 4})
    found = effects_of_scale(replace(answers, scales=(double,)), double)
    assert found.ordinal is None
    assert not isinstance(found.hedges[0].effect, Undefined)
    assert found.hedges[0].effect.n_a == 5


@pytest.mark.unit
def test_scales_stand_beside_the_variables(planted: Answers) -> None:
    rows = tuple((person.condition, str(person.satisfaction), (str(person.satisfaction),)) for person in planted.people)
    results = results_of(replace(planted, scales=(ScaleAnswers("ease", "Ease of use", 1, 5, ("ease",), rows),)))
    (scale,) = results["scale_effects"]
    satisfaction = next(one for one in results["effects"] if one["key"] == "satisfaction")
    assert scale["hedges"] == satisfaction["hedges"]
    assert scale["ordinal"]["lr"] == satisfaction["ordinal"]["lr"]
    assert "ease of use, LR" in words_of(results)


@pytest.mark.unit
def test_sentences_of_rare_cases() -> None:
    assert said.families(1) == ""
    assert said.novelty([], None, ItemWords()) == ""
    equal = {"a": "A", "b": "B", "is_defined": True, "g": 0.0, "interval": None}

    def largest(**plain: Any) -> str:
        return said.largest(partial(Effects, {"name": "Ease", "cohens_f": None, **plain}))

    assert largest(hedges=[]) == ""
    said_of = {
        "equal": largest(hedges=[equal], cohens_f=0.0),
        "without an interval": largest(hedges=[{**equal, "g": -7.0}]),
    }
    assert_sentences_approved("sentences/effects", {name: [sentence] for name, sentence in said_of.items()})


@pytest.mark.unit
def test_shifts_that_differ_along_the_scale_are_said(planted: Answers) -> None:
    results = results_of(planted)
    found = next(one for one in results["effects"] if one["key"] == "satisfaction")
    found["ordinal"] |= {"proportional_p": 0.01, "proportional_lr": 15.0, "proportional_df": 6}
    assert "is violated" in words_of(results)


@pytest.mark.unit
def test_values_are_exact_whatever_the_length_of_lists() -> None:
    three = Person(3, 4, 0, 0, 0, 0, 3, 4, 4, "A")
    five = Person(5, 20, 0, 0, 0, 0, 5, 20, 4, "A")
    answers = Answers(("A",), (three, five), (), 0, 0, 0)
    accuracy = groups_of(answers, VARIABLE_OF["accuracy"])
    assert [str(value) for value in accuracy["A"]] == ["4/3", "4"]
    assert [str(value) for value in groups_of(answers, VARIABLE_OF["satisfaction"])["A"]] == ["4", "4"]
