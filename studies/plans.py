"""The analysis plan of a study: tests and exclusion rules fixed before data collection."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from studies.flow_pages import CHOSEN, IN_TURN, SIDE_BY_SIDE
from studies.instrument.flow import whole_flow
from studies.settings import StudySettings

PrimaryTest = Literal["contrast", "effect", "shares", "advantage", "rank correlation", "preference"]
ADVANTAGE_TEST = "average advantage of the metric's better conditions, a t test with separate variances"

# The analyses of every report, described in words for the frozen design. Designs that were frozen with other words keep
# them: one whose comparison is no average advantage has Kendall's tau-b as its primary test.
TESTS: Mapping[str, str] = MappingProxyType(
    {
        "difference": "Welch's analysis of variance over the conditions",
        "pairs": "Games-Howell for every pair of conditions",
        "beside": "one-way analysis of variance with Tukey's HSD, and Kruskal-Wallis with Dunn-Holm",
        "offline_pairs": "single-step max-|t| between every pair, clustered by user; sign flips where few users differ",
        "comparison": ADVANTAGE_TEST,
        "exploratory": "average advantage of other variables and metrics, at most 16 tests, corrected by Holm",
    }
)
# The same where each participant meets all conditions in turn. Plans frozen with other words analyse completers alone.
ALL_OCCASIONS = (
    "mixed model of conditions and positions with participants random, Satterthwaite's df, over all finished "
    "occasions, including those of participants who left before the end"
)
ADVANTAGE_IN_TURN = "average advantage of the metric's better conditions, a t test of the mixed model's means"
TESTS_IN_TURN: Mapping[str, str] = MappingProxyType(
    {
        **TESTS,
        "difference": ALL_OCCASIONS,
        "pairs": "every pair of conditions in the mixed model, by the studentized range",
        "beside": "repeated measures with Greenhouse and Geisser's correction, Friedman's test with Nemenyi's, "
        "Games-Howell over first occasions alone, the test of carry-over, and the mixed model of completers alone",
        "comparison": ADVANTAGE_IN_TURN,
    }
)
CONTRAST_TEST = "planned contrast of the primary variable, a t test with the variance pooled over all conditions"
CONTRAST_IN_TURN = "planned contrast of the primary variable, a t test of the mixed model's means"
EFFECT_TEST = "a t test with separate variances and Satterthwaite's degrees of freedom, conditions weighted alike"
EFFECT_IN_TURN = (
    "a t test of the mixed model's means with Satterthwaite's degrees of freedom, conditions weighted alike"
)
EQUIVALENCE_TEST = (
    "two one-sided tests and a minimum-effect test of every pair, and of the planned contrast, against the smallest "
    "effect of interest, with Welch's standard errors; the pairs corrected by Holm"
)
EQUIVALENCE_IN_TURN = EQUIVALENCE_TEST.replace("Welch's standard errors", "standard errors of the mixed model")


CHOICE_TEST = (
    "the share who picked something by condition, Pearson's chi-square without continuity correction, or Fisher, "
    "Freeman and Halton's exact test where an expected count is below 5 (over 100,000 random tables where more than "
    "200,000 are possible); pairs the same, with Newcombe's intervals, corrected by Bonferroni"
)
BEHAVIOUR_TEST = (
    "the mean share of a participant's items by condition, by generalised estimating equations with exchangeable "
    "correlation, Mancl and DeRouen's variance and Johansen's test; pairs by the studentized range"
)


def in_text(name: str) -> str:
    """Return a name for use within a sentence: lower-case first letter unless it starts with an abbreviation.

    Examples
    --------
    >>> in_text("Perceived accuracy"), in_text("UEQ hedonic quality")
    ('perceived accuracy', 'UEQ hedonic quality')
    """
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def primary_test_of(tests: Mapping[str, str], perceived: str) -> PrimaryTest:
    """The primary test of a plan without a contrast or an effect, from the analyses in the words that were frozen and
    the primary variable: one with words of its own, a choice or recorded behaviour, is tested by them.

    Examples
    --------
    >>> primary_test_of(TESTS, "accuracy"), primary_test_of({**TESTS, "pick.chosen": CHOICE_TEST}, "pick.chosen")
    ('advantage', 'shares')
    >>> primary_test_of({"comparison": "Kendall's tau-b with the exact two-sided p"}, "accuracy")
    'rank correlation'
    """
    if tests.get("comparison") == PREFERENCE_TEST:
        return "preference"
    if perceived in tests:
        return "shares"
    is_advantage = tests.get("comparison") in (ADVANTAGE_TEST, ADVANTAGE_IN_TURN)
    return "advantage" if is_advantage else "rank correlation"


def share_tests(design: StudySettings) -> dict[str, str]:
    """The tests of planned choices and behaviour in words, by outcome; none where people have several lists."""
    flow = whole_flow(design)
    own = {f"behaviour.{kind}": BEHAVIOUR_TEST for kind in design.recorded}
    own |= {} if flow.choice is None else {f"{flow.choice.key}.{CHOSEN}": CHOICE_TEST}
    return {key: own[key] for key in design.plan.outcomes if key in own and not flow.lists.is_several}


def tests_of(design: StudySettings) -> dict[str, str]:
    """Return the analyses of a study's report in words, as stored in the frozen design."""
    primary, shown = design.primary, design.flow.lists.shown
    if shown == SIDE_BY_SIDE:
        return dict(TESTS_SIDE_BY_SIDE)
    is_in_turn = shown == IN_TURN
    tests = dict(TESTS_IN_TURN) if is_in_turn else {**TESTS, **share_tests(design)}
    if primary.contrast is not None:
        tests["contrast"] = CONTRAST_IN_TURN if is_in_turn else CONTRAST_TEST
    if primary.effect is not None:
        test = EFFECT_IN_TURN if is_in_turn else EFFECT_TEST
        tests["effect"] = f"{primary.effect.words} on the primary variable, {test}"
    if primary.smallest_effect is not None:
        tests["equivalence"] = EQUIVALENCE_IN_TURN if is_in_turn else EQUIVALENCE_TEST
    return tests


# Where participants compare lists side by side.
PREFERENCE_TEST = (
    "preferences on the primary question: of two conditions the exact sign test without ties, of more Davidson's model "
    "with a variance clustered by participant, and Hotelling's T² of all conditions"
)
TESTS_SIDE_BY_SIDE: Mapping[str, str] = MappingProxyType(
    {
        "comparison": PREFERENCE_TEST,
        "pairs": "of more than two conditions, every pair of log-worths by the studentized range",
        "beside": "shares of ties, preferences for each side, and items that both lists have",
        "offline_pairs": TESTS["offline_pairs"],
    }
)
