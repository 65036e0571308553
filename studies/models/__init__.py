"""Rows of the human side."""

from studies.models.participant import Allocation, Participant
from studies.models.quality import Exclusion, ExportJob, ExternalId
from studies.models.recruiting import Guest, Interview, PersonalLink, Recruiting, Submission
from studies.models.response import Event, ProfileRating, RecommendationList, RecommendedItem, Response
from studies.models.study import Condition, Study, StudyMembership, StudyVersion

__all__ = [
    "Allocation",
    "Condition",
    "Event",
    "Exclusion",
    "ExportJob",
    "ExternalId",
    "Guest",
    "Interview",
    "Participant",
    "PersonalLink",
    "ProfileRating",
    "RecommendationList",
    "RecommendedItem",
    "Recruiting",
    "Response",
    "Study",
    "StudyMembership",
    "StudyVersion",
    "Submission",
]
