"""Rows of the human side."""

from studies.models.notice import Notice, NoticeReceipt
from studies.models.participant import Allocation, Participant
from studies.models.quality import Exclusion, ExportJob, ExternalId
from studies.models.recruiting import Guest, Interview, PersonalLink, Recruiting, Submission
from studies.models.response import Event, ProfileRating, RecommendationList, RecommendedItem, Response
from studies.models.study import Condition, ConsentVersion, DeclinedForm, Study, StudyMembership, StudyVersion

__all__ = [
    "Allocation",
    "Condition",
    "ConsentVersion",
    "DeclinedForm",
    "Event",
    "Exclusion",
    "ExportJob",
    "ExternalId",
    "Guest",
    "Interview",
    "Notice",
    "NoticeReceipt",
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
