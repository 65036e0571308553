"""The partial order of conditions that a post hoc test supports, and the compact letters that agree with it.

One condition dominates another when the test declares them different and its location is the better one.
Conditions fall into four tiers; one without any significant difference is *unordered*, which is not the same as
intermediate.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations

from inference.results import Pair, PairwiseResult

Relation = frozenset[tuple[str, str]]
LETTERS = string.ascii_lowercase + string.ascii_uppercase


class Tier(StrEnum):
    """Tier of a condition: whether it dominates others and whether it is dominated."""

    MAXIMAL = "maximal"
    INTERMEDIATE = "intermediate"
    MINIMAL = "minimal"
    UNORDERED = "unordered"


# By whether the condition dominates another and is dominated.
TIERS = {
    (True, False): Tier.MAXIMAL,
    (True, True): Tier.INTERMEDIATE,
    (False, True): Tier.MINIMAL,
    (False, False): Tier.UNORDERED,
}


@dataclass(frozen=True)
class TierRow:
    """One row of the table in the paper's layout: best first.

    `names` are the conditions of the row, and `unordered` those of them without any significant difference, which
    are marked; only the middle row has any.
    """

    tier: Tier
    names: tuple[str, ...]
    unordered: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PartialOrder:
    """A partial order of conditions by dominance."""

    names: tuple[str, ...]  # in the order of the data
    tiers: dict[str, Tier]  # from the direct comparisons
    # Conditions below each condition, by direct comparisons, in the order of the data.
    dominates: dict[str, tuple[str, ...]]
    dominated_by: dict[str, tuple[str, ...]]  # those above it
    covers: tuple[tuple[str, str], ...]  # (better, worse): edges of the Hasse diagram, without those that follow
    # Pairs ordered neither by a comparison nor by a chain of comparisons.
    incomparable: tuple[tuple[str, str], ...] = ()
    # Length of the longest chain above the condition; 0 for one that is not dominated.
    depth: dict[str, int] = field(default_factory=dict)
    # Positions in the diagram: the mean, or the location that the test compares.
    locations: dict[str, float] = field(default_factory=dict)
    # Whether the comparisons contain every pair they imply. Always true for Tukey and for Dunn with Holm; otherwise
    # ``covers`` and ``depth`` use the implied pairs, ``tiers`` do not.
    is_transitive: bool = True
    cycle: tuple[str, ...] = ()  # conditions that dominate each other in a cycle (sign tests only); no edge joins them
    is_empty: bool  # no pair is significant: no order can be claimed
    higher_is_better: bool = True  # whether the larger location dominates
    rows: tuple[TierRow, ...]  # the table that the paper prints, the unordered marked in its middle row
    best_first: tuple[str, ...]  # by location; equal ones in the order of the data

    @property
    def direct(self) -> tuple[tuple[str, str], ...]:
        """The significant pairs, the better condition first."""
        return tuple((better, worse) for better, below in self.dominates.items() for worse in below)

    @property
    def implied(self) -> tuple[tuple[str, str], ...]:
        """The pairs that no comparison orders but a chain of comparisons does, the better condition first."""
        direct = {frozenset(pair) for pair in (*self.direct, *self.incomparable)}
        ordered = (sorted(pair, key=self.depth.__getitem__) for pair in combinations(self.names, 2))
        return tuple((better, worse) for better, worse in ordered if frozenset((better, worse)) not in direct)

    def favoured(self, a: str, b: str) -> str | None:
        """The condition that is significantly better, None where the pair is not significant."""
        return a if b in self.dominates[a] else b if a in self.dominates[b] else None


def partial_order(
    locations: Mapping[str, float],
    pairs: Iterable[Pair] | PairwiseResult,
    higher_is_better: bool = True,
) -> PartialOrder:
    """Derive the partial order from the significant pairs of a post hoc test.

    The direction of a significant pair is the sign of its ``difference``, which every test gives for the location that
    it compares (means for Tukey, mean ranks for Dunn); a difference of exactly 0 implies no dominance. `locations` say
    where conditions are drawn, usually their means; one that no pair names is unordered. For an error or a fallout,
    `higher_is_better` is False. Source: Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, Table 1,
    print three tiers; the fourth is split off their middle one.

    Examples
    --------
    >>> pair = Pair("TopPop", "CorNgr", 0.8, p=0.001, is_significant=True)
    >>> order = partial_order({"TopPop": 3.5, "CorNgr": 2.7, "LSA": 3.1}, [pair])
    >>> [(name, str(tier)) for name, tier in order.tiers.items()]
    [('TopPop', 'maximal'), ('CorNgr', 'minimal'), ('LSA', 'unordered')]
    """
    names = tuple(locations)
    # A test may find a difference where the location that gives its direction is the same.
    significant = [pair for pair in _significant(pairs) if pair.difference]
    direct = frozenset(
        (pair.a, pair.b) if (pair.difference > 0) == higher_is_better else (pair.b, pair.a) for pair in significant
    )
    closure = _closure(names, direct)
    # Pairs of a cycle point both ways once chains are followed, and no diagram could draw them.
    strict = frozenset((a, b) for a, b in closure if (b, a) not in closure)
    dominates = {a: tuple(b for b in names if (a, b) in direct) for a in names}
    dominated_by = {b: tuple(a for a in names if (a, b) in direct) for b in names}
    depth: dict[str, int] = {}
    # Conditions with fewer dominating ones come first, so those above them already have a depth.
    for name in sorted(names, key=lambda of: sum((above, of) in strict for above in names)):
        depth[name] = max((depth[above] + 1 for above in names if (above, name) in strict), default=0)
    tiers = {name: TIERS[bool(dominates[name]), bool(dominated_by[name])] for name in names}
    sign = -1 if higher_is_better else 1
    best_first = tuple(sorted(names, key=lambda name: sign * locations[name]))
    return PartialOrder(
        names=names,
        tiers=tiers,
        dominates=dominates,
        dominated_by=dominated_by,
        covers=tuple(
            (a, b)
            for a in names
            for b in names
            if (a, b) in strict and not any((a, c) in strict and (c, b) in strict for c in names)
        ),
        incomparable=tuple((a, b) for a, b in combinations(names, 2) if (a, b) not in strict and (b, a) not in strict),
        depth={name: depth[name] for name in names},
        locations=dict(locations),
        is_transitive=closure == direct,
        cycle=tuple(name for name in names if (name, name) in closure),
        is_empty=not direct,
        higher_is_better=higher_is_better,
        rows=_rows(best_first, tiers),
        best_first=best_first,
    )


def _rows(best_first: tuple[str, ...], tiers: Mapping[str, Tier]) -> tuple[TierRow, ...]:
    of_tier = {tier: tuple(name for name in best_first if tiers[name] is tier) for tier in Tier}
    middle = tuple(name for name in best_first if tiers[name] in (Tier.INTERMEDIATE, Tier.UNORDERED))
    return (
        TierRow(Tier.MAXIMAL, of_tier[Tier.MAXIMAL], ()),
        TierRow(Tier.INTERMEDIATE, middle, of_tier[Tier.UNORDERED]),
        TierRow(Tier.MINIMAL, of_tier[Tier.MINIMAL], ()),
    )


def _significant(pairs: Iterable[Pair] | PairwiseResult) -> list[Pair]:
    return [pair for pair in (pairs.pairs if isinstance(pairs, PairwiseResult) else pairs) if pair.is_significant]


def _closure(names: tuple[str, ...], direct: Relation) -> Relation:
    """Add every pair that follows from a chain of others (Warshall)."""
    reached = set(direct)
    for through in names:
        above = [a for a in names if (a, through) in reached]
        below = [b for b in names if (through, b) in reached]
        reached.update((a, b) for a in above for b in below)
    return frozenset(reached)


def compact_letters(
    locations: Mapping[str, float],
    pairs: Iterable[Pair] | PairwiseResult,
    higher_is_better: bool = True,
) -> dict[str, str]:
    """Compact letter display: two conditions share a letter exactly when they do not differ significantly.

    Letters are dealt from the best condition downward; after 52 of them comes "(53)". A pair that was not tested or is
    not named counts as not significant. Source: Piepho (2004), Journal of Computational and Graphical Statistics
    13(2):456-466: insert and absorb.

    Examples
    --------
    >>> pair = Pair("A", "C", 2.0, p=0.01, is_significant=True)
    >>> compact_letters({"A": 3.0, "B": 2.0, "C": 1.0}, [pair])
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    sign = -1 if higher_is_better else 1
    ordered = sorted(locations, key=lambda name: sign * locations[name])
    rank = {name: index for index, name in enumerate(ordered)}
    significant = sorted(tuple(sorted((rank[pair.a], rank[pair.b]))) for pair in _significant(pairs))
    columns = [frozenset(rank.values())] if rank else []
    for first, second in significant:
        split = [column - {dropped} for column in columns if {first, second} <= column for dropped in (first, second)]
        unaffected = [column for column in columns if not {first, second} <= column]
        # A dictionary and not a set, so that letters come out in one order in every process.
        distinct = list(dict.fromkeys(unaffected + split))
        columns = [column for column in distinct if not any(column < superset for superset in distinct)]
    columns.sort(key=sorted)
    letters = [*LETTERS, *(f"({number + 1})" for number in range(len(LETTERS), len(columns)))]
    return {
        name: "".join(letter for letter, column in zip(letters, columns, strict=False) if rank[name] in column)
        for name in locations
    }
