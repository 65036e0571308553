"""Sentences on what a study's own data say of its design."""

from __future__ import annotations

from analysis.results.design_checks import (
    AtTheEnd,
    DesignCheck,
    OtherDays,
    OtherLengths,
    Ungraded,
)
from documents.numbers import listed, number, p_with_sign, percent, plural

NOTHING = (
    "The data were checked for lists of different lengths, conditions collected at different times, ratings at an end "
    "of the scale, ungraded lists and reversed questions: none was found."
)


def sentences(checks: tuple[DesignCheck, ...] | None) -> list[str]:
    """One sentence for each finding, or that there is none; nothing in reports that did not check."""
    if checks is None:
        return []
    return [_sentence(check) for check in checks] or [NOTHING]


def _sentence(check: DesignCheck) -> str:
    if isinstance(check, OtherLengths):
        lengths = [
            f"{name} {low}" if low == check.most[name] else f"{name} {low} to {check.most[name]}"
            for name, low in check.fewest.items()
        ]
        return f"Participants judged lists of different lengths: {listed(lengths)}."
    if isinstance(check, OtherDays):
        days = [f"{name} day {day + 1:.1f}" for name, day in check.median_day.items()]
        return (
            f"The conditions were not collected at the same time (Kruskal-Wallis, p {p_with_sign(check.p)}; median "
            f"{listed(days)}), so differences between them may be differences between days."
        )
    if isinstance(check, AtTheEnd):
        end = "highest" if check.is_ceiling else "lowest"
        return (
            f"{percent(check.share)} of the ratings with {check.condition} are the {end} possible, so the scale may "
            "not show how far it differs from others."
        )
    if isinstance(check, Ungraded):
        return f"{check.n:,} of {plural(check.analysed, 'participant')} gave every item of their list the same rating."
    return (
        f"“{check.question}” falls as the rest of {check.scale} rises (r = {number(check.r, is_share=True)}): is it "
        "reversed?"
    )
