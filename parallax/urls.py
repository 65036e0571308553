"""Routes of the apps."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from parallax import views

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="studies:list"), name="home"),
    path("account/", include("accounts.urls")),
    path("catalog/", include("catalog.urls")),
    path("runs/", include("evaluation.urls")),
    path("", include("studies.urls")),
    path("reports/", include("analysis.urls")),
    path("api/v1/", include("parallax.api.urls")),
    path("charts/runtime.js", views.chart_runtime, name="chart-runtime"),
    path("health/", views.health, name="health"),
    path("admin/", admin.site.urls),
]
handler404 = "parallax.views.page_not_found"
