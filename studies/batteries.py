"""Batteries: what one block asks on equally many points, where the same point throughout asks for a second look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from studies.questionnaires.questions import LIKERT, MATRIX
from studies.questionnaires.schema import ABOUT, AFTER, OVERALL, Questionnaire
from studies.scales import Member, members_of

BLOCKS = (ABOUT, OVERALL, AFTER)  # what is asked about each item is compared from item to item instead


@dataclass(frozen=True)
class Battery:
    """The Likert questions and matrix rows of one block that have the same number of points.

    Parameters
    ----------
    block : str
        One of `BLOCKS`.
    n_points : int
        Points of each, >= 2.
    members : tuple of Member
        In the order of the block; one that belongs to no scale counts as not reverse-scored.
    always : frozenset of str
        Keys of the questions among them that everybody is asked.
    """

    block: str
    n_points: int
    members: tuple[Member, ...]
    always: frozenset[str]

    @property
    def is_mixed(self) -> bool:
        """Whether some of its members are reverse-scored, and some are not."""
        return len({member.is_reversed for member in self.members}) == 2

    def marked(self, answers: Mapping[str, Any]) -> list[tuple[int, bool]]:
        """Which points somebody marked.

        Parameters
        ----------
        answers : mapping
            Question key to stored value.

        Returns
        -------
        list of (int, bool)
            For each member that was answered the point as it stands on the page, from 0 and not turned round, and
            whether the member is reverse-scored.

        Examples
        --------
        >>> pair = (Member("a", "", 1, 5, False), Member("b", "r", 1, 5, True))
        >>> Battery("after", 5, pair, frozenset("ab")).marked({"a": 4, "b": {"r": 5}})
        [(3, False), (4, True)]
        """
        given = [(member, member.given(answers)) for member in self.members]
        return [(value - member.minimum, member.is_reversed) for member, value in given if value is not None]


def batteries_of(questionnaire: Questionnaire) -> tuple[Battery, ...]:
    """The batteries of a questionnaire, block by block.

    Parameters
    ----------
    questionnaire : Questionnaire
        The whole.

    Returns
    -------
    tuple of Battery
    """
    found = []
    for block in BLOCKS:
        asked = [q for q in questionnaire.block(block) if q.kind in (LIKERT, MATRIX) and q.is_on_points]
        for n_points in dict.fromkeys(q.maximum - q.minimum + 1 for q in asked):
            own = [q for q in asked if q.maximum - q.minimum + 1 == n_points]
            members = (
                replace(one, is_reversed=one.is_reversed and bool(q.scale)) for q in own for one in members_of(q)
            )
            always = frozenset(q.key for q in own if q.shown_if is None)
            found.append(Battery(block, n_points, tuple(members), always))
    return tuple(found)
