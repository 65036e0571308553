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
        "plan": {"tests": {}, "primary": {}, "alpha": 0.05},
        "objective": {"n": 5, "lengths": []},
        "conditions": [{"label": name, "n": 30} for name in "ABCD"],
        **changes,
    }
    found: Results = partial(Results, plain)
    object.__setattr__(found, "comparisons", comparisons)
    return found


def headline(found: Results) -> str:
    return "".join(run.text for run in verdict.headline(found))


@pytest.mark.parametrize(
    ("coefficient", "p", "expected"),
    [
        (0.9, 0.0028, "Recall ranked the algorithms as perceived accuracy did."),
        (-0.9, 0.0028, "Recall ranked the algorithms in the opposite direction to perceived accuracy."),
        (0.43, 0.239, "This study cannot tell whether recall ranks the algorithms as perceived accuracy does "
                      "(τ_b = .43, p = .239)."),
    ],
)  # fmt: skip
def test_a_plan_with_a_rank_correlation_has_its_headline(coefficient: float, p: float, expected: str) -> None:
    assert headline(results(comparison(tau=TAU | {"coefficient": coefficient, "p": p}))) == expected


def test_the_level_of_the_plan_decides() -> None:
    tau = TAU | {"coefficient": 0.7, "p": 0.03}
    assert "cannot tell" not in headline(results(comparison(tau=tau)))
    assert "cannot tell" in headline(results(comparison(tau=tau, alpha=0.01)))


def test_an_undefined_rank_correlation_gives_its_reason() -> None:
    undefined = {"is_defined": False, "reason": "All algorithms have the same recall."}
    assert headline(results(comparison(tau=undefined))).endswith("does (All algorithms have the same recall).")


def test_a_report_without_the_planned_pair_says_so() -> None:
    said = headline(results(comparison(is_primary=False), plan={"tests": {}, "primary": {}}))
    assert said == "The planned pair of measures is missing from this report."


def advantage(**changes: Any) -> dict[str, Any]:
    return {
        "overall": {
            "is_defined": True, "value": 0.3, "se": 0.1, "df": 90.0, "t": 3.0, "p": 0.003, "alpha": 0.05,
            "interval": {"low": 0.1, "high": 0.5}, "narrow_interval": {"low": 0.13, "high": 0.47}, "weights": {},
            "n_pairs": 4, **changes,
        }
    }  # fmt: skip


PLANNED = {"tests": {"comparison": ADVANTAGE_TEST}, "primary": {}, "alpha": 0.05}


def test_an_error_metric_is_lower_where_it_is_better() -> None:
    compared = comparison(kind="rmse", metric="rmse", higher_is_better=False)
    found = results(compared, plan=PLANNED, advantage=advantage())
    assert headline(found) == "Lower RMSE went with higher perceived accuracy."
    assert verdict.evidence(found)[0].startswith(
        "Over the 4 pairs of algorithms that RMSE separates, participants rated the one with the lower RMSE 0.30 points"
    )


def test_a_study_closed_early_says_how_many_took_part() -> None:
    flow = {"analysed": 61, "by_condition": [{"completed": 15, "target": 30}] * 4}
    found = results(comparison(), plan=PLANNED, advantage=advantage(), flow=flow)
    assert verdict.evidence(found)[-1].endswith("61 of 120 planned participants.")
    complete = results(comparison(), plan=PLANNED, advantage=advantage())
    assert "planned participants" not in " ".join(verdict.evidence(complete))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"flow": {"analysed": 1, "is_collecting": True, "by_condition": [{"completed": 1, "target": 15}]}},
         "Interim: 1 of 15 participants. The verdict appears when collection ends."),
        ({"conditions": [{"label": "A", "n": 30}, {"label": "B", "n": 4}]}, "Nothing to compare yet."),
        ({"conditions": []}, "Nothing to compare yet."),
    ],
)  # fmt: skip
def test_no_verdict_no_evidence_no_scope_and_no_tiles(changes: dict[str, Any], expected: str) -> None:
    found = results(comparison(), plan=PLANNED, advantage=advantage(), **changes)
    assert headline(found) == expected
    assert (verdict.evidence(found), verdict.scope(found), facts(found)) == ((), "", [])


def test_a_pilot_and_simulated_participants_open_the_headline() -> None:
    for changes, mark in (({"mode": "simulated"}, "Simulated participants: "), ({"is_pilot": True}, "Pilot: ")):
        found = results(comparison(), plan=PLANNED, advantage=advantage(), **changes)
        assert headline(found) == f"{mark}Higher recall went with higher perceived accuracy."


def test_tiles_count_pairs_and_name_a_best_only_where_it_is_alone() -> None:
    described = {name: {"mean": mean} for name, mean in {"A": 3.2, "B": 3.0, "C": 3.9, "D": 3.5}.items()}
    table = [{"condition": name, "recall": value} for name, value in {"A": 0.3, "B": 0.2, "C": 0.15, "D": 0.1}.items()]
    found = results(
        comparison(), plan=PLANNED, advantage=advantage(),
        variables=[{"key": "accuracy", "described": described}],
        objective={"n": 5, "lengths": [{"profile_length": 0, "table": table}]},
    )  # fmt: skip
    assert [(tile.heading, tile.side, tile.number, tile.evidence) for tile in facts(found)] == [
        ("Average advantage, points", "", "0.30", "95% CI [0.10, 0.50]"),
        ("Pairs of algorithms", "", "1 agree, 2 contradict, 3 open", "6 pairs in all"),
        ("Highest recall", "objective", "A", ".30, above all three"),
        ("Highest perceived accuracy", "perceived", "2 of 4 may be highest", "all values: 3.00 to 3.90"),
    ]


def test_headline_colours_each_side_once() -> None:
    sides = [run.side for run in verdict.headline(results(comparison(), plan=PLANNED, advantage=advantage()))]
    assert sides == ["", "objective", "", "perceived", ""]


def test_contradictions_are_said_in_words() -> None:
    assert verdict.contradictions(comparison()) == (
        "They contradict each other on 2 of 6 pairs: participants prefer C to A, and D to B."
    )
    assert verdict.contradictions(comparison(variable="fon")) == (
        "They contradict each other on 2 of 6 pairs: first-order novelty was higher with C than with A, and with D "
        "than with B."
    )


def test_agreement_counts_every_pair() -> None:
    assert agreement.agreement(comparison()) == (
        "Of 6 pairs of algorithms, participants and recall agree on 1 and contradict each other on 2; participants "
        "alone separate 1, recall alone 1, and 1 are undecided."
    )


def test_pairs_that_agree_and_pairs_that_a_chain_implies_are_named() -> None:
    assert agreement.same_direction(comparison()) == "Both sides put A above B."
    decided = plain_comparison()["decided"] | {"pairs": PAIRS[1:], "implied": [["A", "C"]]}
    said = agreement.same_direction(comparison(decided=decided))
    assert said == (
        "Games-Howell does not separate A from C, which a chain of its pairs implies; such pairs are not counted."
    )


def test_titles_count_what_contradicts() -> None:
    found = comparison()
    assert isinstance(found.decided, DecidedPairs)
    assert agreement.grid_title(found.decided) == "1 of 6 pairs agrees, 2 contradict"
    assert agreement.slope_title(found) == "2 of 6 orders reverse significantly"
    assert agreement.slope_title(comparison(decided=None)) == "No order reverses significantly"


def test_simulated_notice_gives_the_shares() -> None:
    facts = {"mode": "simulated", "answers": {"n": 200, "n_true": 50, "n_modelled": 150}}
    study = {"slug": "s", "title": "S", "list_length": 5, "ratings_asked": 5}
    said = verdict.simulated_notice(results(comparison(), **facts, study=study))
    assert said.startswith("These participants are simulated")
    assert said.endswith("Of 200 answers, 25% are the users' own ratings and 75% are modelled.")
    chosen = verdict.simulated_notice(results(comparison(), **facts, study={**study, "elicitation": "choice"}))
    assert chosen.endswith("25% are the users' own choices and 75% are modelled.")
    assert verdict.simulated_notice(results(comparison())) == ""


def welch(**changes: Any) -> dict[str, Any]:
    return {"is_defined": True, "f": 7.412, "p": 0.0000004, "df_between": 6, "df_within": 88.21, "left_out": [],
            **changes}  # fmt: skip


def variable(**plain: Any) -> PerceivedVariable:
    found: PerceivedVariable = partial(PerceivedVariable, {"key": "accuracy", "welch": welch(), **plain})
    return found


def test_omnibus_sentence_follows_apa() -> None:
    assert perceived.omnibus(variable()) == (
        "Perceived accuracy differed significantly between the algorithms, Welch's F(6, 88.21) = 7.41, p < .001."
    )
    assert perceived.omnibus(variable(key="son", welch=welch(p=0.4))) == (
        "We found no significant difference in second-order novelty between the algorithms, Welch's "
        "F(6, 88.21) = 7.41, p = .400."
    )


def test_omnibus_sentence_names_what_is_left_out() -> None:
    undefined = {"is_defined": False, "reason": "TopPop has no variance."}
    said = perceived.omnibus(variable(welch=undefined, welch_without_constant=welch(left_out=["TopPop"])))
    assert said.endswith("p < .001. The test leaves out TopPop, without variance.")
    assert perceived.omnibus(variable(welch=undefined)) == (
        "Welch's analysis of variance of perceived accuracy has no result. TopPop has no variance."
    )


def order_of(tiers: dict[str, str], pairs: list[bool], **changes: Any) -> PerceivedVariable:
    plain = {
        "tests": {"games_howell": {"is_defined": True, "pairs": [{"is_significant": one} for one in pairs]}},
        "orders": {"games_howell": {"best_first": list(tiers), "tiers": tiers}},
        "detectable_by_games_howell": [0.5312, 0.5312],
        **changes,
    }
    return variable(**plain)


def test_no_order_is_claimed_and_what_could_have_been_seen_is_said() -> None:
    assert perceived.order(order_of({"A": "unordered", "B": "unordered", "C": "unordered"}, [False] * 3)) == (
        "Games-Howell found no significant difference in any of the 3 pairs. Welch's test shows that the means are not "
        "all equal; no pair of algorithms can be named. With these sample sizes and variances, "
        "the difference that Games-Howell detects with 80% power is 0.53. The result is no evidence that smaller "
        "differences do not exist."
    )


def test_one_pair_and_a_share_that_is_the_same_read_well() -> None:
    said = perceived.order(order_of({"A": "unordered", "B": "unordered"}, [False]))
    assert said.startswith("Games-Howell found no significant difference in the only pair.")
    liking = [partial(Liking, {"n_watched": 1, "n_not_watched": 4, "share_watched": 0.2})] * 2
    assert lists_shown.liking(liking, "watched").endswith(
        "The share watched is 20% for every algorithm, to the nearest percent."
    )


def test_order_names_maximal_and_minimal_and_a_surprise() -> None:
    found = order_of({"A": "maximal", "B": "unordered", "C": "minimal"}, [True, False, False], welch=welch(p=0.06))
    assert perceived.order(found) == (
        "Games-Howell found significant differences in 1 of 3 pairs. Maximal in perceived accuracy: A; minimal: C. The "
        "test controls its own error rate, so these differences hold without a significant F."
    )


def test_other_tests_that_disagree_are_named() -> None:
    found = {
        "welch": welch(p=0.08),
        "anova": {"is_defined": True, "p": 0.03},
        "kruskal": {"is_defined": True, "p": 0.001},
    }
    assert perceived.disagreeing_tests(variable(**found)) == (
        "An analysis of variance with equal variances was significant (p = .030), unlike Welch's. The Kruskal-Wallis "
        "test was significant (p = .001), unlike Welch's."
    )
    assert perceived.disagreeing_tests(variable(**found | {"welch": welch()})) == ""


def test_few_items_and_filled_slots_are_warned_of() -> None:
    plain = {"condition": "TopPop", "is_carried_by_few": True, "n_distinct": 8, "n_slots": 150,
             "share_of_most_shown": 0.9, "n_filled": 3}  # fmt: skip
    said = lists_shown.item_warnings([partial(ItemsOfCondition, plain)])
    assert said[0].startswith(
        "TopPop recommended few items: 8 distinct items fill its 150 slots, and the most frequent make up 90% of them."
    )
    assert said[1] == "TopPop had no score for enough items: 3 of its 150 slots were filled by popularity."


def test_titles_of_bars_name_all_algorithms_that_tie() -> None:
    tied = measured({"A": 0.3, "B": 0.3, "C": 0.1}, None, 0)
    assert objective.bars_title(tied, "recall") == "Recall from .100 (C) to .300 (A and B)"
    assert objective.best_and_worst(tied, 5).endswith("ranges from .100 (C) to .300 (A and B).")
    assert objective.bars_title(measured({"A": 0.3, "B": 0.3}, None, 0), "recall") == (
        "All algorithms have the same recall"
    )


def test_order_at_the_participants_length_is_compared() -> None:
    def at(length: int, **recall: float) -> ProfileLength:
        return measured(recall, None, length)

    whole = at(0, A=0.3, B=0.2)
    assert objective.rank_stability(whole, at(5, A=0.1, B=0.2)).endswith(
        "the ranking by recall is B, A; with whole profiles it is A, B."
    )
    assert objective.rank_stability(whole, at(5, A=0.2, B=0.1)).endswith("the ranking by recall remains A, B.")


def test_short_profiles_are_called_the_participants_only_where_they_are() -> None:
    exact = StudyFacts(slug="s", title="S", list_length=5, ratings_asked=5)
    opening = "With every profile cut at random to 5 ratings,"
    lengths = [measured({"A": 0.3, "B": 0.2}, None, length) for length in (0, 5)]
    for study, words in (
        (exact, " as many as participants give,"),
        (replace(exact, ratings_most=15), " as many as participants give at least,"),
        (replace(exact, elicitation="choice"), " as many as participants choose,"),
        (replace(exact, ratings_asked=10), ""),
    ):
        said = objective.rank_stability(*lengths, as_many=objective.profile_length_note(study, 5))
        assert said == f"{opening}{words} the ranking by recall remains A, B."


def measured(recall: dict[str, float], served: dict[str, float] | None, length: int = 0) -> ProfileLength:
    plain = {
        "profile_length": length,
        "conditions": list(recall),
        "table": [{"condition": name, "recall": value} for name, value in recall.items()],
        "served": {"recall": served} if served else {},
    }
    found: ProfileLength = partial(ProfileLength, plain)
    return found


def test_recall_as_served_is_told_where_the_run_has_it() -> None:
    words = "In the lists as served, with ties and empty slots as shown, with whole profiles"
    recall = {"A": 0.2, "B": 0.19}
    assert objective.served(measured(recall, None)) == ""
    assert objective.served(measured(recall, recall)) == (
        f"{words}, recall differs by less than .0005 for every algorithm."
    )
    assert objective.served(measured(recall, {"A": 0.18, "B": 0.19})) == (
        f"{words}, recall reverses A and B; it changes most for A, by .020."
    )
    assert objective.served(measured(recall, {"A": 0.21, "B": 0.19})).startswith(
        f"{words}, recall ranks the algorithms in the same order"
    )


@pytest.mark.parametrize(
    ("low", "expected"),
    [
        (0.05, "The verdict on the average advantage is the same (0.30, 95% CI [0.10, 0.50] with exclusions; 0.30, "
               "95% CI [0.05, 0.50] without)."),
        (-0.05, "The verdict on the average advantage changes from “cannot tell” without exclusions (0.30, 95% CI "
                "[−0.05, 0.50]) to “agree” with them (0.30, 95% CI [0.10, 0.50])."),
    ],
)  # fmt: skip
def test_exclusions_say_whether_the_verdict_rests_on_them(low: float, expected: str) -> None:
    with_them, without = advantage()["overall"], advantage(interval={"low": low, "high": 0.5})["overall"]
    plain = {"n": {"kept": 12, "everybody": 15}, "variables": [], "primary": None,
             "advantage": {"analysed": with_them, "completers": without}}  # fmt: skip
    compared: Exclusions = partial(Exclusions, plain)
    assert exclusions.sentences(compared, results(comparison(), plan=PLANNED))[1:] == [expected]
