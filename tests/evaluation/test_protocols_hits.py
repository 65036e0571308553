"""Every number of one plus random in a case small enough to be counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from evaluation.protocols.blocks import measure_block, measured_arrays
from evaluation.protocols.cases import Cases, build_cases
from evaluation.protocols.facts import FACTS as CASE_FACTS
from evaluation.protocols.facts import ModelFacts
from evaluation.protocols.hit_metrics import one_plus_random
from evaluation.protocols.outcomes import Outcome, Outcomes, outcomes
from evaluation.protocols.registry import protocol

pytestmark = pytest.mark.unit

# User 0 has rated item 0 of six; items 1 (liked) and 2 are hidden, and items 3 to 5 are all candidates. Item 3 scores
# above item 1, item 5 the same and is more popular, item 4 has no score; items 3 and 5 score above item 2.
TRAIN = csr_array(np.array([[4.0, 0, 0, 0, 0, 0]]))
SCORES = np.array([[9.0, 2.0, 1.0, 3.0, -np.inf, 2.0]])
POPULARITY = np.array([1, 7, 0, 0, 5, 9])
FACTS = ModelFacts("order", True, 1.0, 5.0, POPULARITY, 1)


def hidden(*values: float) -> Cases:
    items = np.arange(1, 1 + len(values))
    return build_cases(
        TRAIN, np.zeros(len(values), dtype=int), items, np.array(values), relevant=5, irrelevant=1, seed=1, negatives=9
    )


def wanted(**chosen: Any) -> dict[str, Any]:
    return protocol("one-plus-random").completed({"negatives": 9, **chosen})


def counted(cases: Cases) -> dict[str, np.ndarray]:
    return measure_block(wanted(), cases, slice(None), SCORES, np.array([0]), popularity=POPULARITY, longest=4)


RECALL = {"worst": (0.0, 0.0, 1.0, 1.0), "best": (0.0, 1.0, 1.0, 1.0), "expected": (0.0, 0.5, 1.0, 1.0)}
FALLOUT = (0.0, 0.0, 1.0, 1.0)


def precision(recall: tuple[float, ...], g: float) -> tuple[float | None, ...]:
    """Where both or neither are in the list, g or nothing; where the liked item is alone, 1."""
    return tuple(None if not hit else 1.0 if not miss else g for hit, miss in zip(recall, FALLOUT, strict=True))


def f(recall: tuple[float, ...], g: float) -> tuple[float, ...]:
    pairs = zip(precision(recall, g), recall, strict=True)
    return tuple(0.0 if not share else 2 * share * hit / (share + hit) for share, hit in pairs)


@pytest.mark.parametrize("ties", RECALL)
@pytest.mark.parametrize(("given", "g"), [(None, 0.5), (0.25, 0.25)])
@pytest.mark.parametrize(("mode", "other"), [("sampled", "exact"), ("exact", "sampled")])
def test_both_modes_and_the_served_list_count_with_the_chosen_g_and_ties(mode, other, given, g, ties):
    cases = hidden(5.0, 1.0)
    found = one_plus_random(cases, counted(cases), wanted(mode=mode, g=given, ties=ties), range(1, 5))
    main, recall = found.main, RECALL[ties]
    assert (main.recall, main.fallout, main.precision) == (recall, FALLOUT, precision(recall, g))
    assert main.f == pytest.approx(f(recall, g))
    assert (main.user_recall.groups.tolist(), main.user_recall.values.tolist()) == ([0], [list(recall)])
    assert main.user_fallout.values.tolist() == [list(FALLOUT)]
    expected = {}
    for how, hits in ((f"mode={other}", recall), ("ties=served", RECALL["worst"])):
        expected |= {
            f"recall({how})": hits,
            f"fallout({how})": FALLOUT,
            f"precision-raghavan({how})": precision(hits, g),
            f"f({how})": pytest.approx(f(hits, g)),
        }
    # One of the four items that a list of four is made of has no score.
    assert found.secondary == expected | {"filled-slots": (0.0, 0.0, 0.0, 0.25)}


def test_candidates_from_a_file_give_the_sampled_metrics_alone():
    bits = np.packbits([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]], axis=1, bitorder="little")
    cases = replace(hidden(5.0, 1.0), bits=bits, is_given=True)
    found = one_plus_random(cases, counted(cases), wanted(ties="best", g=0.25), range(1, 5))
    assert cases.of_users(np.array([0]))[0].candidates(1).tolist() == cases.candidates(1).tolist() == [3, 4]
    assert found.main.recall == (1.0, 1.0, 1.0, 1.0)
    assert found.main.fallout == (0.0, 1.0, 1.0, 1.0)
    assert set(found.secondary) == {
        *(f"{name}(ties=served)" for name in ("recall", "fallout", "precision-raghavan", "f")),
        "filled-slots",
    }
    assert found.secondary["recall(ties=served)"] == (0.0, 1.0, 1.0, 1.0)
    assert found.secondary["fallout(ties=served)"] == (0.0, 1.0, 1.0, 1.0)
    assert found.secondary["precision-raghavan(ties=served)"] == (None, 0.25, 0.25, 0.25)


def measured(cases: Cases, names: list[str], **chosen: Any) -> Outcomes:
    return outcomes(cases, counted(cases), wanted(**chosen), names=names, n=2, longest=3, model=FACTS)


def test_outcomes_have_every_length_the_metrics_asked_for_and_values_by_user():
    cases = hidden(5.0, 1.0)
    found = measured(cases, ["recall@3(ties=best)", "fallout@2(ties=best)"], ties="best")
    values = {one.metric: (one.value, one.by_n) for one in found.values}
    assert [one.metric for one in found.values] == [
        *("recall", "fallout", "precision-raghavan", "f"),
        *(f"{name}(mode=exact)" for name in ("recall", "fallout", "precision-raghavan", "f")),
        *(f"{name}(ties=served)" for name in ("recall", "fallout", "precision-raghavan", "f")),
        *("filled-slots", "recall@3(ties=best)", "fallout@2(ties=best)"),
    ]
    assert values["recall"] == values["recall(mode=exact)"] == (1.0, (0.0, 1.0, 1.0))
    assert values["fallout"] == (0.0, (0.0, 0.0, 1.0))
    assert values["precision-raghavan"] == (1.0, (None, 1.0, 0.5))
    assert values["f"] == (1.0, (0.0, 1.0, pytest.approx(2 / 3)))
    assert values["recall(ties=served)"] == (0.0, (0.0, 0.0, 1.0))
    assert (values["recall@3(ties=best)"], values["fallout@2(ties=best)"]) == ((1.0, ()), (0.0, ()))
    assert {one.reason for one in found.values} == {""}
    assert {name: array.tolist() for name, array in found.arrays.items()} == {
        "recall_users": [0],
        "recall_n_cases": [1],
        "recall_values": [[0.0, 1.0, 1.0]],
        "fallout_users": [0],
        "fallout_n_cases": [1],
        "fallout_values": [[0.0, 0.0, 1.0]],
    }


@pytest.mark.parametrize(("liked", "present", "missing"), [(5.0, "recall", "fallout"), (1.0, "fallout", "recall")])
def test_outcomes_of_one_kind_of_case_lack_what_needs_both(liked, present, missing):
    found = {one.metric: one for one in measured(hidden(liked), [f"{missing}@1"]).values}
    assert found[present].by_n == (0.0, 0.5, 1.0)
    for name in (missing, "precision-raghavan", "f"):
        assert found[name] == Outcome(name, None, (None, None, None))
    assert found[f"{missing}@1"] == Outcome(f"{missing}@1", None)


def test_measured_arrays_are_told_from_those_computed_of_them():
    measured_names = [
        *("scores", "above", "tied", "before", "scored", "n_items"),
        *("all_above", "all_tied", "all_before", "all_scored", "all_n_items"),
        *("list_users", "list_items", "list_scored"),
        *CASE_FACTS,
    ]
    stored = {name: np.array([place]) for place, name in enumerate([*measured_names, "user_values", "croc_x"])}
    assert {name: array.tolist() for name, array in measured_arrays(stored).items()} == {
        name: [place] for place, name in enumerate(measured_names)
    }
