"""The tables of studies: their design, recruitment, participants, answers and notices."""

from studies.models.notice import Notice, NoticeReceipt
from studies.models.participant import Allocation, Exclusion, ExternalId, Participant
from studies.models.recruiting import Guest, Interview, PersonalLink, Recruiting, Submission
from studies.models.response import (
    Event,
    ListRequest,
    ProfileRating,
    RecommendationList,
    RecommendedItem,
    Response,
)
from studies.models.study import (
    Condition,
    ConsentVersion,
    DeclinedForm,
    QuestionnaireUndo,
    Sequence,
    Study,
    StudyInvitation,
    StudyMembership,
    StudyVersion,
)

__all__ = [
    "Allocation",
    "Condition",
    "ConsentVersion",
    "DeclinedForm",
    "Event",
    "Exclusion",
    "ExternalId",
    "Guest",
    "Interview",
    "ListRequest",
    "Notice",
    "NoticeReceipt",
    "Participant",
    "PersonalLink",
    "ProfileRating",
    "QuestionnaireUndo",
    "RecommendationList",
    "RecommendedItem",
    "Recruiting",
    "Response",
    "Sequence",
    "Study",
    "StudyInvitation",
    "StudyMembership",
    "StudyVersion",
    "Submission",
]
