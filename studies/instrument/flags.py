"""Quality flags: patterns in a participant's answers that deserve a second look. A flag alone excludes no one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from studies.settings import FLAGS, Thresholds

KEYS = FLAGS
TOO_FAST, STRAIGHT_LINED, ALL_RATINGS_ALIKE, ATTENTION_FAILED, SAME_EXTERNAL_ID, CONTRADICTORY = KEYS
NAMES = {
    TOO_FAST: "Too fast",
    STRAIGHT_LINED: "Straight-lined",
    ALL_RATINGS_ALIKE: "All ratings alike",
    ATTENTION_FAILED: "Attention check failed",
    SAME_EXTERNAL_ID: "Same external id",
    CONTRADICTORY: "Contradictory answers",
}
FEWEST_FOR_MEDIAN = 5  # with fewer completers a share of the median is meaningless


@dataclass(frozen=True)
class ScaleAnswers:
    """A participant's answers to the statements of one block that have scales of equal length."""

    where: str  # the block in words, for example "after the list"
    n_points: int  # number of scale points
    # the raw answer to each statement, before reverse-scoring, and whether the statement is reverse-scored
    points: Sequence[tuple[int, bool]]

    def are_identical(self, thresholds: Thresholds) -> bool:
        """Whether the answers are equal and numerous enough for a flag.

        Examples
        --------
        >>> ScaleAnswers("after the list", 5, [(3, False), (3, True)] * 3).are_identical(Thresholds())
        True
        """
        # Equal answers to statements in both directions contradict each other, so fewer of them are enough.
        fewest = thresholds.fewest_statements(is_mixed=len({is_reversed for _, is_reversed in self.points}) == 2)
        return len(self.points) >= fewest and len({point for point, _ in self.points}) == 1


@dataclass(frozen=True)
class Evidence:
    """The facts about one participant that flags are computed from."""

    seconds: float | None  # time from consent to completion; None if not completed
    items: Sequence[tuple[Any, ...]]  # the answers about each recommended item, questions in the same order
    ratings: Sequence[float]  # all ratings on 1..5, of known and recommended items
    failed_checks: Sequence[str] = ()  # keys of the attention checks that were failed
    same_id: Sequence[str] = ()  # public ids of other participants with the same external id
    scale_answers: Sequence[ScaleAnswers] = ()  # answers on scales in the blocks that are not about items
    n_contradictory: int = 0  # recommended items that were consumed before and never heard of, by the answers


@dataclass(frozen=True)
class Flag:
    """One flag: its key, the reason as a sentence, and the numbers of that sentence."""

    key: str
    reason: str
    numbers: Mapping[str, float]

    @property
    def name(self) -> str:
        """The name shown on pages."""
        return NAMES[self.key]


def shortest_time(seconds: Sequence[float], thresholds: Thresholds) -> float:
    """Return the time below which a participant was too fast.

    The higher of the two limits applies; the share applies from five completers on. In seconds, 0 for no limit.

    Examples
    --------
    >>> shortest_time([300, 300, 600, 900, 900], Thresholds(fastest_seconds=60, fastest_share=0.25))
    150.0
    """
    of_median = thresholds.fastest_share * median(seconds) if len(seconds) >= FEWEST_FOR_MEDIAN else 0.0
    return max(float(thresholds.fastest_seconds), of_median)


def _straight_lined(evidence: Evidence, thresholds: Thresholds) -> list[Flag]:
    """Return at most one flag, with a sentence per straight-lined part. The sentences do not reveal the answer."""
    sentences, numbers = [], {}
    if len(evidence.items) >= thresholds.alike_items and len(set(evidence.items)) == 1:
        numbers["items"] = len(evidence.items)
        sentences.append(f"Gave the same answers for all {len(evidence.items)} items.")
    for block in evidence.scale_answers:
        if not block.are_identical(thresholds):
            continue
        n, n_reversed = len(block.points), sum(is_reversed for _, is_reversed in block.points)
        numbers["statements"] = numbers.get("statements", 0) + n
        numbers["reversed"] = numbers.get("reversed", 0) + n_reversed
        ending = f", {n_reversed} of them reverse-scored" if n_reversed else ""
        sentences.append(f"Chose the same of {block.n_points} points for all {n} statements {block.where}{ending}.")
    return [Flag(STRAIGHT_LINED, " ".join(sentences), numbers)] if sentences else []


def flags_of(evidence: Evidence, thresholds: Thresholds, shortest: float) -> tuple[Flag, ...]:
    """Return the flags of one participant, in the order of `KEYS`.

    `shortest` is from `shortest_time`, in seconds.

    Examples
    --------
    >>> flag, = flags_of(Evidence(30.0, [], [3, 4]), Thresholds(), 60.0)
    >>> flag.key, flag.reason
    ('too_fast', 'Took 30 seconds; below 60 seconds is too fast.')
    """
    flags = []
    if evidence.seconds is not None and evidence.seconds < shortest:
        flags.append(
            Flag(
                TOO_FAST,
                f"Took {evidence.seconds:.0f} seconds; below {shortest:.0f} seconds is too fast.",
                {"seconds": round(evidence.seconds, 3), "shortest": round(shortest, 3)},
            )
        )
    flags += _straight_lined(evidence, thresholds)
    if len(evidence.ratings) >= thresholds.alike_ratings and len(set(evidence.ratings)) == 1:
        # Reasons are shown while outcomes are blinded, so the sentence omits the rating.
        n, rating = len(evidence.ratings), evidence.ratings[0]
        flags.append(Flag(ALL_RATINGS_ALIKE, f"All {n} ratings are the same.", {"ratings": n, "rating": rating}))
    if evidence.failed_checks:
        checks = ", ".join(evidence.failed_checks)
        flags.append(
            Flag(ATTENTION_FAILED, f"Attention checks failed: {checks}.", {"failed": len(evidence.failed_checks)})
        )
    if evidence.same_id:
        public_ids = ", ".join(evidence.same_id)
        flags.append(
            Flag(SAME_EXTERNAL_ID, f"Has the same external id as {public_ids}.", {"others": len(evidence.same_id)})
        )
    if n := evidence.n_contradictory:
        items = "1 recommended item was" if n == 1 else f"{n} recommended items were"
        flags.append(Flag(CONTRADICTORY, f"Contradictory answers on whether {items} known before.", {"items": n}))
    return tuple(flags)
