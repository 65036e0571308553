"""Routes of the REST API: the endpoints of each app, the schema, and 404 for any other address."""

from __future__ import annotations

from django.urls import path, re_path
from rest_framework.routers import DefaultRouter

from accounts.api import MeView
from analysis.api import ReportViewSet
from catalog.api import DatasetViewSet
from core.api import IgnoreAccept
from evaluation.api import ModelViewSet, RecommenderViewSet, RunViewSet
from parallax.api import views
from parallax.api.jobs import JobViewSet
from studies.api.data import ParticipantViewSet, StudyDataViewSet
from studies.api.membership import OF_STUDY
from studies.api.people import InvitationViewSet, MemberViewSet, RecruitingViewSet
from studies.api.studies import StudyViewSet

app_name = "api"
router = DefaultRouter()
router.APIRootView = views.Root
router.include_format_suffixes = False
router.register("studies", StudyViewSet, basename="studies")
router.register(OF_STUDY, StudyDataViewSet, basename="studies-data")
router.register(f"{OF_STUDY}/participants", ParticipantViewSet, basename="studies-participants")
router.register(f"{OF_STUDY}/members", MemberViewSet, basename="studies-members")
router.register(f"{OF_STUDY}/invitations", InvitationViewSet, basename="studies-invitations")
router.register(OF_STUDY, RecruitingViewSet, basename="studies-recruiting")
router.register("datasets", DatasetViewSet, basename="datasets")
router.register("models", ModelViewSet, basename="models")
router.register("runs", RunViewSet, basename="runs")
router.register("recommenders", RecommenderViewSet, basename="recommenders")
router.register("reports", ReportViewSet, basename="reports")
router.register("jobs", JobViewSet, basename="jobs")

urlpatterns = [
    path("me/", MeView.as_view(), name="me"),
    path("schema/", views.SchemaView.as_view(), name="schema"),
    path("docs/", views.docs, name="docs"),
    path(
        "reports/<int:pk>/files/<path:name>",
        ReportViewSet.as_view({"get": "file"}, content_negotiation_class=IgnoreAccept),
        name="reports-file",
    ),
    path("reports/requests/<int:pk>/", ReportViewSet.as_view({"get": "requested"}), name="reports-request"),
    path("models/uploads/<int:pk>/", ModelViewSet.as_view({"get": "uploaded"}), name="models-upload"),
    *router.urls,
    re_path("", views.NotFoundView.as_view(), name="nothing"),
]
