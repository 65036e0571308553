"""Rows of the human side."""

from studies.models.participant import Allocation, Participant
from studies.models.response import Event, ProfileRating, RecommendationList, RecommendedItem, Response
from studies.models.study import Condition, Study, StudyMembership, StudyVersion

__all__ = [
    "Allocation",
    "Condition",
    "Event",
    "Participant",
    "ProfileRating",
    "RecommendationList",
    "RecommendedItem",
    "Response",
    "Study",
    "StudyMembership",
    "StudyVersion",
]
