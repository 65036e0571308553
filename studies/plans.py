"""The analysis plan of a study: tests and exclusion rules fixed before data collection."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from studies.flow_pages import CHOSEN
from studies.instrument.flow import whole_flow
from studies.settings import StudySettings

PrimaryTest = Literal["contrast", "effect", "shares", "advantage", "rank correlation"]
ADVANTAGE_TEST = "average advantage of the metric's better conditions, a t test with separate variances"

# The analyses of every report, described in words for the frozen design. Designs that were frozen with other words keep
# them: one whose comparison is not `ADVANTAGE_TEST` has Kendall's tau-b as its primary test.
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
CONTRAST_TEST = "planned contrast of the primary variable, a t test with the variance pooled over all conditions"
EFFECT_TEST = "a t test with separate variances and Satterthwaite's degrees of freedom, conditions weighted alike"
EQUIVALENCE_TEST = (
    "two one-sided tests and a minimum-effect test of every pair, and of the planned contrast, against the smallest "
    "effect of interest, with Welch's standard errors; the pairs corrected by Holm"
)


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
    if perceived in tests:
        return "shares"
    return "advantage" if tests.get("comparison") == ADVANTAGE_TEST else "rank correlation"


def share_tests(design: StudySettings) -> dict[str, str]:
    """The tests of planned choices and behaviour in words, by outcome; none where people have several lists."""
    flow = whole_flow(design)
    own = {f"behaviour.{kind}": BEHAVIOUR_TEST for kind in design.recorded}
    own |= {} if flow.choice is None else {f"{flow.choice.key}.{CHOSEN}": CHOICE_TEST}
    return {key: own[key] for key in design.plan.outcomes if key in own and not flow.lists.is_several}


def tests_of(design: StudySettings) -> dict[str, str]:
    """Return the analyses of a study's report in words, as stored in the frozen design."""
    tests, primary = {**TESTS, **share_tests(design)}, design.primary
    if primary.contrast is not None:
        tests["contrast"] = CONTRAST_TEST
    if primary.effect is not None:
        tests["effect"] = f"{primary.effect.words} on the primary variable, {EFFECT_TEST}"
    if primary.smallest_effect is not None:
        tests["equivalence"] = EQUIVALENCE_TEST
    return tests
