"""Orders of the conditions, on either side."""

from __future__ import annotations

from dataclasses import dataclass, field

from inference.partial_order import Tier, TierRow


@dataclass(frozen=True, kw_only=True)
class Order:
    """The partial order that a test supports, with the rows of the printed table and letters that agree with it.

    A condition dominates another where its location is better and the adjusted p is below the level of the test.
    """

    names: tuple[str, ...]
    tiers: dict[str, Tier]
    dominates: dict[str, tuple[str, ...]]
    dominated_by: dict[str, tuple[str, ...]]
    covers: tuple[tuple[str, str], ...]
    incomparable: tuple[tuple[str, str], ...] = ()
    depth: dict[str, int] = field(default_factory=dict)
    locations: dict[str, float] = field(default_factory=dict)
    is_transitive: bool = True
    cycle: tuple[str, ...] = ()
    is_empty: bool
    higher_is_better: bool = True
    rows: tuple[TierRow, ...]
    best_first: tuple[str, ...]
    letters: dict[str, str]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Every pair in order, the dominating condition first."""
        return {(above, below) for above, lower in self.dominates.items() for below in lower}

    def sorted_pairs(self, pairs: set[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs in the order of the conditions."""
        position = {name: index for index, name in enumerate(self.names)}
        return sorted(pairs, key=lambda pair: (position.get(pair[0], 0), position.get(pair[1], 0)))

    @property
    def n_possible(self) -> int:
        """Number of pairs of conditions."""
        return len(self.names) * (len(self.names) - 1) // 2
