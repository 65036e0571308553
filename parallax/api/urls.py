"""Routes of the REST API: the endpoints of each app, the schema, and 404 for any other address."""

from __future__ import annotations

from django.urls import path, re_path
from rest_framework.routers import DefaultRouter

from accounts.api import MeView
from analysis.api import ReportViewSet
from catalog.api import BytesParser, DatasetViewSet, ItemViewSet, UploadViewSet, VersionViewSet
from core.api import IgnoreAccept
from evaluation.api.models import ModelViewSet, RecommenderViewSet
from evaluation.api.runs import ExperimentViewSet, RunViewSet
from parallax.api import views
from parallax.api.jobs import JobViewSet
from parallax.api.webhooks import DeliveryViewSet, WebhookViewSet
from studies.api.data import ParticipantViewSet, StudyDataViewSet
from studies.api.designs import DesignViewSet
from studies.api.membership import OF_STUDY
from studies.api.people import InvitationViewSet, MemberViewSet, RecruitingViewSet
from studies.api.studies import StudyViewSet

app_name = "api"
VERSIONS = r"datasets/(?P<name>[-a-zA-Z0-9_]+)/versions"
router = DefaultRouter()
router.APIRootView = views.Root
router.include_format_suffixes = False
router.register("studies", DesignViewSet, basename="designs")
router.register("studies", StudyViewSet, basename="studies")  # last: the root names its list
router.register(OF_STUDY, StudyDataViewSet, basename="studies-data")
router.register(f"{OF_STUDY}/participants", ParticipantViewSet, basename="studies-participants")
router.register(f"{OF_STUDY}/members", MemberViewSet, basename="studies-members")
router.register(f"{OF_STUDY}/invitations", InvitationViewSet, basename="studies-invitations")
router.register(OF_STUDY, RecruitingViewSet, basename="studies-recruiting")
router.register("datasets", DatasetViewSet, basename="datasets")
router.register(f"{VERSIONS}/(?P<number>[0-9]+)/items", ItemViewSet, basename="items")
router.register(VERSIONS, VersionViewSet, basename="versions")
router.register("models", ModelViewSet, basename="models")
router.register("runs", RunViewSet, basename="runs")
router.register("experiments", ExperimentViewSet, basename="experiments")
router.register("recommenders", RecommenderViewSet, basename="recommenders")
router.register("reports", ReportViewSet, basename="reports")
router.register("jobs", JobViewSet, basename="jobs")
router.register("webhooks", WebhookViewSet, basename="webhooks")

urlpatterns = [
    path("me/", MeView.as_view(), name="me"),
    path("schema/", views.SchemaView.as_view(), name="schema"),
    path("docs/", views.docs, name="docs"),
    path(
        "reports/<int:pk>/files/<path:name>",
        ReportViewSet.as_view({"get": "file"}, content_negotiation_class=IgnoreAccept),
        name="reports-file",
    ),
    path("uploads/", UploadViewSet.as_view({"get": "list", "post": "create"}), name="uploads-list"),
    path(
        "uploads/<int:pk>/",
        UploadViewSet.as_view({"get": "retrieve", "post": "append", "delete": "destroy"}, parser_classes=[BytesParser]),
        name="uploads-detail",
    ),
    path("webhooks/<int:pk>/deliveries/", DeliveryViewSet.as_view({"get": "list"}), name="webhooks-deliveries"),
    *router.urls,
    re_path("", views.NotFoundView.as_view(), name="nothing"),
]
