"""Sentences, exact for given numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analysis.narrative import agreement, figures, objective, perceived, verdict
from analysis.narrative.facts import facts
from analysis.results.comparison import Comparison
from analysis.results.objective import ProfileLength
from analysis.results.perceived import ItemsOfCondition, Liking, PerceivedVariable
from analysis.results.report import Results, StudyFacts
from tests.factories.results import partial

pytestmark = pytest.mark.unit

TAU = {
    "is_defined": True, "coefficient": 1 / 7, "p": 0.7726, "p_method": "exact permutation", "n": 7,
    "smallest_detectable": 0.714,
}  # fmt: skip


def plain_comparison(**changes: Any) -> dict[str, Any]:
    return {
        "variable": "accuracy", "metric": "recall", "kind": "recall", "profile_length": 0, "is_primary": True,
        "p_holm": None, "conditions": list("ABCDEFG"), "tau": TAU,
        "directions": {"is_defined": True, "same": 12, "opposite": 9, "tied": 0, "n_pairs": 21, "p": 0.386},
        "tau_bootstrap": {"is_defined": True, "ci_low": -0.43, "ci_high": 0.62},
        "orders": {"counts": {"agreed": 1, "contradicted": 1, "perceived only": 2, "objective only": 12, "neither": 5},
                   "pairs": [{"a": "TopPop", "b": "NNCosNgr", "verdict": "contradicted", "perceived_p": 0.004,
                              "objective_p": 0.02}]},
        **changes,
    }  # fmt: skip


def comparison(**changes: Any) -> Comparison:
    found: Comparison = partial(Comparison, plain_comparison(**changes))
    return found


def results(*comparisons: Comparison, **changes: Any) -> Results:
    plain = {
        "mode": "live",
        "flow": {"analysed": 210},
        "objective": {"n": 5, "lengths": []},
        "conditions": [{"label": name, "n": 30} for name in "ABCDEFG"],
        **changes,
    }
    found: Results = partial(Results, plain)
    object.__setattr__(found, "comparisons", comparisons)
    return found


def headline(found: Results) -> str:
    return "".join(run.text for run in verdict.headline(found))


def test_verdict_without_significance_never_says_unrelated() -> None:
    found = results(comparison(), comparison(is_primary=False, metric="fallout", kind="fallout", p_holm=1.0))
    assert headline(found) == "Recall and perceived accuracy hardly agreed"
    assert verdict.paragraph(found) == (
        "The rankings of the seven algorithms by recall at 5 and by perceived accuracy were not significantly "
        "correlated, τ_b = .14, exact p = .773, between −.43 and .62 in 95% of resamples (its stability, not a "
        "confidence interval). Seven algorithms are too few to conclude: only |τ_b| ≥ .71 could have been significant, "
        "so this result does not show that the two are unrelated. Recall and participants "
        "ordered 12 of 21 pairs of algorithms in the same direction. The one "
        "exploratory correlation was not significant at α = .05 after Holm's correction. Neither recall at 5 nor "
        "fallout at 5 was significantly correlated with perceived accuracy; no other metric was compared."
    )


@pytest.mark.parametrize(
    ("coefficient", "expected"),
    [
        (0.9, "Recall ranks the algorithms much as perceived accuracy does"),
        (-0.9, "Recall ranks the algorithms in the opposite direction to perceived accuracy"),
    ],
)
def test_verdict_with_significance_names_the_direction(coefficient: float, expected: str) -> None:
    assert headline(results(comparison(tau=TAU | {"coefficient": coefficient, "p": 0.0028}))) == expected


@pytest.mark.parametrize(
    ("coefficient", "expected"),
    [(-0.4, "did not agree"), (0.0, "did not agree"), (0.004, "did not agree"), (0.14, "hardly agreed"),
     (0.39, "agreed only weakly"), (0.5, "agreed, but not significantly")],
)  # fmt: skip
def test_verdict_without_significance_says_how_far_the_rankings_agree(coefficient: float, expected: str) -> None:
    said = headline(results(comparison(tau=TAU | {"coefficient": coefficient, "p": 0.3})))
    assert said == f"Recall and perceived accuracy {expected}"


def test_many_algorithms_are_not_said_to_be_too_few() -> None:
    tau = TAU | {"n": 20, "coefficient": 0.2, "smallest_detectable": 0.32}
    said = verdict.paragraph(results(comparison(tau=tau, conditions=[f"A{n}" for n in range(20)])))
    assert "With 20 algorithms: only |τ_b| ≥ .32 could have been significant" in said


def perceived_side() -> dict[str, Any]:
    pairs = [{"is_significant": is_significant} for is_significant in (True, False, False)]
    return {
        "key": "accuracy", "conditions": list("ABC"), "anova": anova(), "described": {"A": {"mean": 3.92}},
        "tests": {"tukey": {"is_defined": True, "pairs": pairs}}, "orders": {"tukey": {"dominates": {"A": ["C"]}}},
    }  # fmt: skip


def objective_side(**recall: float) -> dict[str, Any]:
    pairs = [{"is_significant": True}] * 3
    whole = {
        "profile_length": 0,
        "table": [{"condition": name, "recall": value} for name, value in recall.items()],
        "recall": {"n_users": 60, "n_cases": 1234, "sign_tests": {"is_defined": True, "pairs": pairs}},
    }
    return {"n": 5, "lengths": [whole]}


def test_facts_answer_whom_participants_prefer_and_whom_the_metric() -> None:
    perceived_ranks, objective_ranks = {"A": 1, "B": 2, "C": 3}, {"A": 2.5, "B": 2.5, "C": 1}
    found = comparison(conditions=list("ABC"), ranks={"perceived": perceived_ranks, "objective": objective_ranks})
    answered = results(found, variables=[perceived_side()], objective=objective_side(A=0.1, B=0.1, C=0.3))
    first, second, third, fourth = facts(answered)
    assert (first.heading, first.side, first.number) == ("Highest perceived accuracy", "perceived", "A")
    assert first.evidence == (
        "M = 3.92; significantly above 1 of 2 others. Tukey: 1 of 3 pairs differ; F(6, 203) = 7.41, p < .001, ω² = .15"
    )
    assert (second.heading, second.side, second.number) == ("Highest recall at 5", "objective", "C")
    assert second.evidence == (
        ".30 (all: .10 to .30); ranked 3 of 3 by participants. 3 of 3 pairs differ (sign tests, 1,234 cases)"
    )
    assert (third.number, third.evidence) == (
        "τ_b = .14",
        "exact p = .773; −.43 to .62 in 95% of resamples: its stability, not a confidence interval",
    )
    assert (fourth.heading, fourth.number) == ("Participants", "210")


def test_headline_colours_each_side_once() -> None:
    sides = [run.side for run in verdict.headline(results(comparison()))]
    assert sides == ["objective", "", "perceived", ""]


def test_verdict_when_no_order_could_reach_significance() -> None:
    tau = TAU | {"n": 3, "p": 1 / 3, "coefficient": 1.0, "smallest_detectable": None}
    said = verdict.paragraph(results(comparison(tau=tau, conditions=list("ABC"))))
    assert "With three algorithms no correlation could have been significant" in said
    tau = TAU | {"n": 5, "p": 0.1, "coefficient": 1.0, "smallest_detectable": None}
    said = verdict.paragraph(results(comparison(tau=tau, conditions=list("ABCDE"))))
    assert "With five algorithms and these ties no correlation could have been significant" in said


def test_verdict_without_participants() -> None:
    assert headline(results(comparison(), flow={"analysed": 0})).startswith(
        "No participant has completed the study yet"
    )


def test_exploratory_findings_are_named_with_corrected_p() -> None:
    other = comparison(is_primary=False, kind="fallout", variable="son", p_holm=0.012, tau=TAU | {"coefficient": -1.0})
    assert verdict.exploratory(results(comparison(), other)) == (
        "Significant exploratory correlations after Holm's correction: fallout at 5 with second-order novelty "
        "(τ_b = −1.00, corrected p = .012: algorithms with lower fallout at 5 had lower second-order novelty)."
    )


def test_contradictions_are_said_in_words() -> None:
    assert agreement.contradictions(comparison(), 5, "watched") == [
        "Participants found TopPop more accurate than NNCosNgr, p = .004; the difference in recall at 5 was in the "
        "opposite direction, p = .020."
    ]


def test_agreement_counts_every_pair() -> None:
    assert agreement.agreement(comparison()) == (
        "Of 21 pairs of algorithms, 1 differed significantly in the same direction on both sides, 1 in opposite "
        "directions, 2 for participants only, 12 in recall only, and 5 on neither side."
    )


def test_simulated_notice_gives_the_shares() -> None:
    facts = {"mode": "simulated", "answers": {"n": 200, "n_true": 50, "n_modelled": 150}}
    study = {"slug": "s", "title": "S", "list_length": 5, "ratings_asked": 5}
    said = verdict.simulated_notice(results(comparison(), **facts, study=study))
    assert said.startswith("These participants are simulated")
    assert said.endswith("Of their 200 answers, 25% are the users' own ratings and 75% are modelled.")
    chosen = verdict.simulated_notice(results(comparison(), **facts, study={**study, "elicitation": "choice"}))
    assert chosen.endswith("25% are the users' own choices and 75% are modelled.")
    assert verdict.simulated_notice(results(comparison())) == ""


def anova(**changes: Any) -> dict[str, Any]:
    return {
        "is_defined": True, "f": 7.412, "p": 0.0000004, "df_between": 6, "df_within": 203, "eta_squared": 0.1797,
        "eta_squared_ci": {"low": 0.08, "high": 0.26}, "omega_squared": 0.1549, "left_out": [], "constant": [],
        **changes,
    }  # fmt: skip


def variable(**plain: Any) -> PerceivedVariable:
    found: PerceivedVariable = partial(PerceivedVariable, plain)
    return found


def test_anova_sentence_follows_apa() -> None:
    assert perceived.anova(variable(key="accuracy", anova=anova())) == (
        "Perceived accuracy differed significantly between the algorithms, F(6, 203) = 7.41, p < .001, η² = .18, "
        "95% CI [.08, .26], ω² = .15."
    )


def test_anova_sentence_names_what_is_special() -> None:
    said = perceived.anova(
        variable(key="son", anova=anova(p=0.4, omega_squared=-0.01, left_out=["LSA"], constant=["TopPop"]))
    )
    assert said.startswith("We found no significant difference in second-order novelty between the algorithms")
    assert said.endswith("ω² = .00. The test leaves out LSA, with fewer than two participants. TopPop has no variance.")


def order_of(tiers: dict[str, str], pairs: list[bool], **changes: Any) -> PerceivedVariable:
    plain = {
        "key": "accuracy",
        "anova": anova(),
        "tests": {"tukey": {"is_defined": True, "pairs": [{"is_significant": one} for one in pairs]}},
        "orders": {"tukey": {"best_first": list(tiers), "tiers": tiers}},
        "detectable_difference": [0.5312, 0.5312],
        **changes,
    }
    return variable(**plain)


def test_no_order_is_claimed_and_what_could_have_been_seen_is_said() -> None:
    assert perceived.order(order_of({"A": "unordered", "B": "unordered", "C": "unordered"}, [False] * 3)) == (
        "Tukey's HSD found no significant difference in any of the 3 pairs. With these sample sizes and variances, the "
        "difference detectable with 80% power is 0.53. The result is no evidence that smaller differences do not exist."
    )


def test_one_pair_and_a_share_that_is_the_same_read_well() -> None:
    said = perceived.order(order_of({"A": "unordered", "B": "unordered"}, [False]))
    assert said.startswith("Tukey's HSD found no significant difference in the only pair.")
    liking = [partial(Liking, {"n_watched": 1, "n_not_watched": 4, "share_watched": 0.2})] * 2
    assert perceived.liking(liking, "watched").endswith(
        "The share watched is 20% for every algorithm, to the nearest percent."
    )


def test_order_names_maximal_and_minimal_and_a_surprise() -> None:
    found = order_of({"A": "maximal", "B": "unordered", "C": "minimal"}, [True, False, False], anova=anova(p=0.06))
    assert perceived.order(found) == (
        "Tukey's HSD found significant differences in 1 of 3 pairs. Maximal in perceived accuracy: A; minimal: C. The "
        "test controls its own error rate, so these differences hold without a significant F."
    )


def test_robust_tests_that_disagree_are_named() -> None:
    found = {
        "key": "accuracy",
        "anova": anova(),
        "welch": {"is_defined": True, "p": 0.08},
        "kruskal": {"is_defined": True, "p": 0.001},
        "survives": {
            "games_howell": {
                "is_defined": True,
                "is_same_order": False,
                "kept": [],
                "lost": [["A", "B"]],
                "gained": [],
            },
            "dunn_holm": {"is_defined": True, "is_same_order": True, "kept": [], "lost": [], "gained": []},
        },
        "brown_forsythe": {"is_defined": True, "p": 0.003},
    }
    assert perceived.robustness(variable(**found)) == (
        "Welch's analysis of variance was not significant (p = .080), unlike the classical test. Games-Howell does "
        "not confirm A over B. The variances differed significantly between algorithms (Brown-Forsythe, p = .003), "
        "which violates an assumption of Tukey's HSD: see Games-Howell."
    )


def test_few_items_and_filled_slots_are_warned_of() -> None:
    plain = {"condition": "TopPop", "is_carried_by_few": True, "n_distinct": 8, "n_slots": 150,
             "share_of_most_shown": 0.9, "n_filled": 3}  # fmt: skip
    said = perceived.items([partial(ItemsOfCondition, plain)])
    assert said[0].startswith(
        "TopPop recommended few items: 8 distinct items fill its 150 slots, and the most frequent make up 90% of them."
    )
    assert said[1] == "TopPop had no score for enough items: 3 of its 150 slots were filled by popularity."


def test_titles_of_bars_name_all_algorithms_that_tie() -> None:
    tied = measured({"A": 0.3, "B": 0.3, "C": 0.1}, None, 0)
    assert objective.bars_title(tied, "recall") == "Most of what users like is found by A and B, least by C"
    assert objective.best_and_worst(tied, 5).endswith("ranges from .100 (C) to .300 (A and B).")
    assert objective.bars_title(measured({"A": 0.3, "B": 0.3}, None, 0), "recall") == (
        "All algorithms have the same recall"
    )


def test_order_at_the_participants_length_is_compared() -> None:
    def at(length: int, **recall: float) -> ProfileLength:
        return measured(recall, None, length)

    whole = at(0, A=0.3, B=0.2)
    assert objective.shorter(whole, at(5, A=0.1, B=0.2)).endswith(
        "the ranking by recall is B, A; with whole profiles it is A, B."
    )
    assert objective.shorter(whole, at(5, A=0.2, B=0.1)).endswith("the ranking by recall remains A, B.")


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
        said = objective.shorter(*lengths, as_many=objective.as_many_as_participants(study, 5))
        assert said == f"{opening}{words} the ranking by recall remains A, B."


def test_verdict_names_the_metrics_that_were_compared_where_none_predicts() -> None:
    nothing = "Recall at 5 was not significantly correlated with perceived accuracy; no other metric was compared."
    assert verdict.prediction(results(comparison())) == nothing
    others = [
        comparison(is_primary=False, p_holm=1.0, kind=kind, profile_length=length, variable=variable)
        for kind in ("recall", "fallout")
        for length in (0, 5)
        for variable in ("accuracy", "son")
    ]
    assert verdict.prediction(results(comparison(), *others)) == (
        "Neither recall at 5 nor fallout at 5, with whole profiles or with profiles of 5 ratings, was significantly "
        "correlated with perceived accuracy or second-order novelty; no other metric was compared."
    )
    undefined = {"is_defined": False, "reason": "Nobody differs."}
    assert verdict.prediction(results(comparison(tau=undefined))) == ""
    near_tau = TAU | {"coefficient": 0.7, "p": 0.03}
    assert verdict.prediction(results(comparison(tau=near_tau))) == ""
    assert verdict.prediction(results(comparison(tau=near_tau, alpha=0.01))).startswith(
        "Recall at 5 was not significantly"
    )
    assert verdict.prediction(results(comparison(tau=TAU | {"coefficient": 0.9, "p": 0.003}))) == ""


def test_a_negative_correlation_is_said_with_its_sign_and_meaning() -> None:
    against = comparison(variable="fon", tau=TAU | {"coefficient": -0.9, "p": 0.003})
    said = verdict.paragraph(results(against))
    assert "Algorithms with higher recall at 5 had lower first-order novelty." in said
    assert verdict.prediction(results(against)) == "No significant correlation was positive."
    assert "against" not in said
    turned = comparison(
        is_primary=False, kind="fallout", variable="fon", p_holm=0.003, tau=TAU | {"coefficient": -0.9, "p": 0.003}
    )
    both = verdict.paragraph(results(comparison(), turned))
    assert "algorithms with lower fallout at 5 had lower first-order novelty" in both
    assert agreement.scatter_title(against, 5) == (
        "First-order novelty is negatively correlated with recall at 5 (Kendall’s τ = −.90, exact p = .003)"
    )


def test_pairs_alike_and_pairs_turned_round_are_named() -> None:
    ranks = {"perceived": {"A": 1, "B": 2, "C": 3}, "objective": {"A": 2, "B": 1, "C": 3}}
    found = comparison(
        conditions=list("ABC"),
        ranks=ranks,
        directions={"is_defined": True, "same": 2, "opposite": 1, "tied": 0, "n_pairs": 3, "p": 0.5},
        orders={"counts": {}, "pairs": [{"a": "A", "b": "C", "verdict": "agreed"}]},
    )
    assert agreement.same_direction(found) == (
        "One pair differed significantly in the same direction on both sides: A over C."
    )
    assert agreement.directions(found) == (
        "Regardless of significance, recall and participants ordered 2 of 3 pairs in the same direction; the "
        "pairs are not independent, which the permutation test of τ_b takes into account. Recall reverses the "
        "participants' order of A over B."
    )


def test_strip_title_names_the_first_and_its_rivals() -> None:
    def found(**best: float) -> Comparison:
        return comparison(conditions=list(best), ranks_resampled={"perceived": {"best": best}})

    assert figures.strip_title(found(A=0.55, B=0.41, C=0.04), "perceived") == (
        "A ranks first in 55% of resamples, B in 41%"
    )
    assert figures.strip_title(found(A=0.998, B=0.002), "perceived") == "A ranks first in over 99% of resamples"
    assert figures.strip_title(found(A=0.4, B=0.2, C=0.2, D=0.2), "perceived") == (
        "A ranks first in 40% of resamples, B in 20%, C in 20% and one more in 5% or more"
    )


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
