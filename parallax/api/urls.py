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
from parallax.api.webhooks import DeliveryViewSet, WebhookViewSet
from studies.api.studies import StudyViewSet

app_name = "api"
router = DefaultRouter()
router.APIRootView = views.Root
router.include_format_suffixes = False
router.register("studies", StudyViewSet, basename="studies")
router.register("datasets", DatasetViewSet, basename="datasets")
router.register("models", ModelViewSet, basename="models")
router.register("runs", RunViewSet, basename="runs")
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
    path("reports/requests/<int:pk>/", ReportViewSet.as_view({"get": "requested"}), name="reports-request"),
    path("models/uploads/<int:pk>/", ModelViewSet.as_view({"get": "uploaded"}), name="models-upload"),
    path("webhooks/<int:pk>/deliveries/", DeliveryViewSet.as_view({"get": "list"}), name="webhooks-deliveries"),
    *router.urls,
    re_path("", views.NotFoundView.as_view(), name="nothing"),
]
