"""Batteries: questions of one block with equally long scales, checked for straight-lining.

`answers` maps the keys of questions to stored values throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from studies.instrument.questionnaires.schema import ABOUT, AFTER, OVERALL, Questionnaire
from studies.instrument.scales import Member, members_of

BLOCKS = (ABOUT, OVERALL, AFTER)  # answers about items are compared between items instead


@dataclass(frozen=True)
class Battery:
    """The Likert questions and matrix rows of one block that have the same number of points."""

    block: str
    n_points: int  # scale points of each, >= 2
    members: tuple[Member, ...]  # in the order of the block; a member of no scale counts as not reverse-scored
    always: frozenset[str]  # keys of their questions that are shown to everyone

    @property
    def is_mixed(self) -> bool:
        """Whether only some of the members are reverse-scored."""
        return len({member.is_reversed for member in self.members}) == 2

    def points(self, answers: Mapping[str, Any]) -> list[tuple[int, bool]]:
        """Return the points that a participant chose.

        For each answered member: the point as shown on the page, from 0 and before reverse-scoring, and whether the
        member is reverse-scored.

        Examples
        --------
        >>> pair = (Member("a", "", 1, 5, False), Member("b", "r", 1, 5, True))
        >>> Battery("after", 5, pair, frozenset("ab")).points({"a": 4, "b": {"r": 5}})
        [(3, False), (4, True)]
        """
        values = [(member, member.raw(answers)) for member in self.members]
        return [(value - member.minimum, member.is_reversed) for member, value in values if value is not None]


def batteries_of(questionnaire: Questionnaire) -> tuple[Battery, ...]:
    """Return the batteries of a questionnaire, block by block."""
    batteries = []
    for block in BLOCKS:
        questions = [q for q in questionnaire.block(block) if q.is_on_points and not q.is_check]
        for n_points in dict.fromkeys(q.maximum - q.minimum + 1 for q in questions):
            own = [q for q in questions if q.maximum - q.minimum + 1 == n_points]
            members = (
                replace(member, is_reversed=member.is_reversed and bool(q.scale))
                for q in own
                for member in members_of(q)
            )
            always = frozenset(q.key for q in own if q.shown_if is None)
            batteries.append(Battery(block, n_points, tuple(members), always))
    return tuple(batteries)
