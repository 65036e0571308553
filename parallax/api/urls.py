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
from studies.api.studies import StudyViewSet

app_name = "api"
VERSIONS = r"datasets/(?P<name>[-a-zA-Z0-9_]+)/versions"
router = DefaultRouter()
router.APIRootView = views.Root
router.include_format_suffixes = False
router.register("studies", StudyViewSet, basename="studies")
router.register("datasets", DatasetViewSet, basename="datasets")
router.register(f"{VERSIONS}/(?P<number>[0-9]+)/items", ItemViewSet, basename="items")
router.register(VERSIONS, VersionViewSet, basename="versions")
router.register("models", ModelViewSet, basename="models")
router.register("runs", RunViewSet, basename="runs")
router.register("experiments", ExperimentViewSet, basename="experiments")
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
    path("uploads/", UploadViewSet.as_view({"get": "list", "post": "create"}), name="uploads-list"),
    path(
        "uploads/<int:pk>/",
        UploadViewSet.as_view({"get": "retrieve", "post": "append", "delete": "destroy"}, parser_classes=[BytesParser]),
        name="uploads-detail",
    ),
    *router.urls,
    re_path("", views.NotFoundView.as_view(), name="nothing"),
]
