"""URLs of replications."""

from __future__ import annotations

from django.urls import path

from parallax.replication import views

app_name = "replication"
urlpatterns = [
    path("", views.replication_start, name="start"),
    path("<int:pk>/", views.replication_job, name="job"),
    path("<int:pk>/replication.zip", views.replication_file, name="file"),
]
