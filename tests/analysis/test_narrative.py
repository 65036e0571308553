"""Sentences, exact for given numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analysis.present import comparison as agreement
from analysis.present import exclusions, lists_shown, objective, perceived, verdict
from analysis.present.verdict import facts
from analysis.results.comparison import Comparison, DecidedPairs
from analysis.results.exclusions import Exclusions
from analysis.results.objective import ProfileLength
from analysis.results.perceived import ItemsOfCondition, Liking, PerceivedVariable
from analysis.results.report import Results, StudyFacts
from studies.plans import ADVANTAGE_TEST
from tests.factories.results import partial
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit

TAU = {
    "is_defined": True, "coefficient": 1 / 7, "p": 0.7726, "p_method": "exact permutation", "n": 7,
    "smallest_detectable": 0.714,
}  # fmt: skip


def pair(names: str, decision: str, people: str | None = None, offline: str | None = None) -> dict[str, Any]:
    """A decided pair such as "AB", with the algorithm that each side favours."""
    return {"a": names[0], "b": names[1], "decision": decision, "participants_favour": people,
            "offline_favours": offline}  # fmt: skip


PAIRS = (
    pair("AB", "agree", "A", "A"), pair("AC", "contradict", "C", "A"), pair("AD", "offline only", None, "A"),
    pair("BC", "participants only", "C"), pair("BD", "contradict", "D", "B"), pair("CD", "undecided"),
)  # fmt: skip
PAIR = {"perceived": "accuracy", "objective": "recall"}


def rank_sets(**sets: tuple[int, int]) -> dict[str, Any]:
    return {"sets": sets, "coverage": 0.95, "n_pairs": 6}


def plain_comparison(**changes: Any) -> dict[str, Any]:
    return {
        "variable": "accuracy", "metric": "recall", "kind": "recall", "profile_length": 0, "is_primary": True,
        "higher_is_better": True, "conditions": list("ABCD"), "tau": TAU,
        "decided": {
            "is_defined": True, "pairs": PAIRS, "implied": [],
            "participants_rank_sets": rank_sets(A=(2, 4), B=(3, 4), C=(1, 2), D=(1, 3)),
            "offline_rank_sets": rank_sets(A=(1, 1), B=(2, 3), C=(2, 4), D=(3, 4)),
        },
        **changes,
    }  # fmt: skip


def comparison(**changes: Any) -> Comparison:
    found: Comparison = partial(Comparison, plain_comparison(**changes))
    return found


def results(*comparisons: Comparison, **changes: Any) -> Results:
    plain = {
        "mode": "live",
        "flow": {"analysed": 120, "by_condition": [{"completed": 30, "target": 30}] * 4},
        "plan": {"tests": {}, "primary": PAIR, "alpha": 0.05},
        "objective": {"n": 5, "lengths": []},
        "conditions": [{"label": name, "n": 30} for name in "ABCD"],
        **changes,
    }
    found: Results = partial(Results, plain)
    object.__setattr__(found, "comparisons", comparisons)
    return found


def headline(found: Results) -> str:
    return "".join(run.text for run in verdict.headline(found))


def test_the_level_of_the_plan_decides() -> None:
    tau = TAU | {"coefficient": 0.7, "p": 0.03}
    assert "cannot tell" not in headline(results(comparison(tau=tau)))
    assert "cannot tell" in headline(results(comparison(tau=tau, alpha=0.01)))


def advantage(**changes: Any) -> dict[str, Any]:
    return {
        "overall": {
            "is_defined": True, "value": 0.3, "se": 0.1, "df": 90.0, "t": 3.0, "p": 0.003, "alpha": 0.05,
            "interval": {"low": 0.1, "high": 0.5}, "narrow_interval": {"low": 0.13, "high": 0.47}, "weights": {},
            "n_pairs": 4, **changes,
        }
    }  # fmt: skip


PLANNED = {"tests": {"comparison": ADVANTAGE_TEST}, "primary": PAIR, "alpha": 0.05}
INTERIM = {"flow": {"analysed": 1, "is_collecting": True, "by_condition": [{"completed": 1, "target": 15}]}}
FEW = {"conditions": [{"label": "A", "n": 30}, {"label": "B", "n": 4}]}
EARLY = {"flow": {"analysed": 61, "by_condition": [{"completed": 15, "target": 30}] * 4}}


def planned(compared: Comparison | None = None, **changes: Any) -> Results:
    return results(compared or comparison(), plan=PLANNED, advantage=advantage(), **changes)


def test_headlines_and_evidence() -> None:
    undefined = {"is_defined": False, "reason": "All algorithms have the same recall."}
    found = {
        "rank correlation, significant": results(comparison(tau=TAU | {"coefficient": 0.9, "p": 0.0028})),
        "rank correlation, reverse": results(comparison(tau=TAU | {"coefficient": -0.9, "p": 0.0028})),
        "rank correlation, open": results(comparison(tau=TAU | {"coefficient": 0.43, "p": 0.239})),
        "rank correlation, undefined": results(comparison(tau=undefined)),
        "no planned pair": results(comparison(is_primary=False), plan={"tests": {}, "primary": PAIR}),
        "advantage": planned(),
        "advantage in an error metric": planned(comparison(kind="rmse", metric="rmse", higher_is_better=False)),
        "closed early": planned(**EARLY),
        "interim": planned(**INTERIM),
        "few participants": planned(**FEW),
        "no participants": planned(conditions=[]),
        "simulated": planned(mode="simulated"),
        "pilot": planned(is_pilot=True),
    }
    assert_sentences_approved(
        "sentences/verdict", {name: [headline(each), *verdict.evidence(each)] for name, each in found.items()}
    )


@pytest.mark.parametrize("changes", [INTERIM, FEW, {"conditions": []}])
def test_no_verdict_no_evidence_no_scope_and_no_tiles(changes: dict[str, Any]) -> None:
    found = planned(**changes)
    assert (verdict.evidence(found), verdict.scope(found), facts(found)) == ((), "", [])


def test_tiles_count_pairs_and_name_a_best_only_where_it_is_alone() -> None:
    described = {name: {"mean": mean} for name, mean in {"A": 3.2, "B": 3.0, "C": 3.9, "D": 3.5}.items()}
    table = [{"condition": name, "recall": value} for name, value in {"A": 0.3, "B": 0.2, "C": 0.15, "D": 0.1}.items()]
    tiles = facts(
        planned(
            variables=[{"key": "accuracy", "described": described}],
            objective={"n": 5, "lengths": [{"profile_length": 0, "table": table}]},
        )
    )
    assert [tile.side for tile in tiles] == ["", "", "objective", "perceived"]
    assert_sentences_approved("sentences/tiles", {tile.heading: [tile.number, tile.evidence] for tile in tiles})


def test_headline_colours_each_side_once() -> None:
    sides = [run.side for run in verdict.headline(results(comparison(), plan=PLANNED, advantage=advantage()))]
    assert sides == ["", "objective", "", "perceived", ""]


def test_agreement_of_pairs() -> None:
    decided = plain_comparison()["decided"] | {"pairs": PAIRS[1:], "implied": [["A", "C"]]}
    found = comparison()
    assert isinstance(found.decided, DecidedPairs)
    sentences = {
        "contradictions": verdict.contradictions(found),
        "contradictions in novelty": verdict.contradictions(comparison(variable="fon")),
        "every pair": agreement.agreement(found),
        "pairs that agree": agreement.same_direction(found, "Games-Howell"),
        "pairs that a chain implies": agreement.same_direction(comparison(decided=decided), "Games-Howell"),
        "title of the grid": agreement.grid_title(found.decided),
        "title of the slopes": agreement.slope_title(found),
        "title without decided pairs": agreement.slope_title(comparison(decided=None)),
    }
    assert_sentences_approved("sentences/agreement", {name: [said] for name, said in sentences.items()})


def test_simulated_notice_gives_the_shares() -> None:
    facts = {"mode": "simulated", "answers": {"n": 200, "n_true": 50, "n_modelled": 150}}
    study = {"slug": "s", "title": "S", "list_length": 5, "ratings_asked": 5}
    notices = {
        name: [verdict.simulated_notice(results(comparison(), **facts, study=each))]
        for name, each in (("ratings", study), ("choices", {**study, "elicitation": "choice"}))
    }
    assert_sentences_approved("sentences/simulated", notices)
    assert verdict.simulated_notice(results(comparison())) == ""


def welch(**changes: Any) -> dict[str, Any]:
    return {"is_defined": True, "f": 7.412, "p": 0.0000004, "df_between": 6, "df_within": 88.21, "left_out": [],
            **changes}  # fmt: skip


def variable(**plain: Any) -> PerceivedVariable:
    found: PerceivedVariable = partial(PerceivedVariable, {"key": "accuracy", "welch": welch(), **plain})
    return found


def order_of(tiers: dict[str, str], pairs: list[bool], **changes: Any) -> PerceivedVariable:
    plain = {
        "tests": {"games_howell": {"is_defined": True, "pairs": [{"is_significant": one} for one in pairs]}},
        "orders": {"games_howell": {"best_first": list(tiers), "tiers": tiers}},
        "detectable_by_games_howell": [0.5312, 0.5312],
        **changes,
    }
    return variable(**plain)


def test_tests_and_orders_of_a_variable() -> None:
    undefined = {"is_defined": False, "reason": "TopPop has no variance."}
    without = variable(welch=undefined, welch_without_constant=welch(left_out=["TopPop"]))
    others = {"anova": {"is_defined": True, "p": 0.03}, "kruskal": {"is_defined": True, "p": 0.001}}
    surprise = order_of({"A": "maximal", "B": "unordered", "C": "minimal"}, [True, False, False], welch=welch(p=0.06))
    sentences = {
        "significant": perceived.omnibus(variable()),
        "not significant": perceived.omnibus(variable(key="son", welch=welch(p=0.4))),
        "without a condition": perceived.omnibus(without),
        "no result": perceived.omnibus(variable(welch=undefined)),
        "no order": perceived.order(order_of({"A": "unordered", "B": "unordered", "C": "unordered"}, [False] * 3)),
        "one pair": perceived.order(order_of({"A": "unordered", "B": "unordered"}, [False])),
        "a pair without a significant F": perceived.order(surprise),
        "other tests disagree": perceived.disagreeing_tests(variable(welch=welch(p=0.08), **others)),
        "other tests agree": perceived.disagreeing_tests(variable(welch=welch(), **others)),
    }
    assert_sentences_approved("sentences/tests", {name: [said] for name, said in sentences.items()})


def test_items_and_metrics() -> None:
    items = {"condition": "TopPop", "is_carried_by_few": True, "n_distinct": 8, "n_slots": 150,
             "share_of_most_shown": 0.9, "n_filled": 3}  # fmt: skip
    liking = [partial(Liking, {"n_watched": 1, "n_not_watched": 4, "share_watched": 0.2})] * 2
    tied, equal = measured({"A": 0.3, "B": 0.3, "C": 0.1}, None), measured({"A": 0.3, "B": 0.3}, None)
    recall = {"A": 0.2, "B": 0.19}
    whole = measured({"A": 0.3, "B": 0.2}, None)
    sentences = {
        "few items": lists_shown.item_warnings([partial(ItemsOfCondition, items)]),
        "equal shares": [lists_shown.liking(liking, "watched")],
        "tied": [objective.bars_title(tied, "recall"), objective.best_and_worst(tied, 5)],
        "all equal": [objective.bars_title(equal, "recall")],
        "short profiles, another order": [objective.rank_stability(whole, measured({"A": 0.1, "B": 0.2}, None, 5))],
        "as served, the same": [objective.served(measured(recall, recall))],
        "as served, another order": [objective.served(measured(recall, {"A": 0.18, "B": 0.19}))],
        "as served, the same order": [objective.served(measured(recall, {"A": 0.21, "B": 0.19}))],
    }
    exact = StudyFacts(slug="s", title="S", list_length=5, ratings_asked=5)
    for name, study in {
        "as many": exact,
        "at least as many": replace(exact, ratings_most=15),
        "as many choices": replace(exact, elicitation="choice"),
        "fewer than participants give": replace(exact, ratings_asked=10),
    }.items():
        as_many = objective.profile_length_note(study, 5)
        short = measured({"A": 0.3, "B": 0.2}, None, 5)
        sentences[f"short profiles, {name}"] = [objective.rank_stability(whole, short, as_many=as_many)]
    assert objective.served(measured(recall, None)) == ""
    assert_sentences_approved("sentences/metrics", sentences)


def measured(recall: dict[str, float], served: dict[str, float] | None, length: int = 0) -> ProfileLength:
    plain = {
        "profile_length": length,
        "conditions": list(recall),
        "table": [{"condition": name, "recall": value} for name, value in recall.items()],
        "served": {"recall": served} if served else {},
    }
    found: ProfileLength = partial(ProfileLength, plain)
    return found


def test_exclusions_say_whether_the_verdict_rests_on_them() -> None:
    sentences = {}
    for low in (0.05, -0.05):
        with_them, without = advantage()["overall"], advantage(interval={"low": low, "high": 0.5})["overall"]
        plain = {"n": {"kept": 12, "everybody": 15}, "variables": [], "primary": None,
                 "advantage": {"analysed": with_them, "completers": without}}  # fmt: skip
        compared: Exclusions = partial(Exclusions, plain)
        sentences[f"{low}"] = exclusions.sentences(compared, results(comparison(), plan=PLANNED))[1:]
    assert_sentences_approved("sentences/exclusions", sentences)
