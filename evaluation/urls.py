"""URLs of runs, models and experiments."""

from __future__ import annotations

from django.urls import path

from evaluation import views

app_name = "evaluation"
urlpatterns = [
    path("", views.run_list, name="list"),
    path("new/", views.run_new, name="new"),
    path("new/count/", views.run_count, name="count"),
    path("models/", views.model_list, name="models"),
    path("models/upload/<slug:name>/<int:number>/", views.upload_model, name="upload"),
    path("models/uploads/<int:pk>/", views.uploaded_model, name="uploaded"),
    path("models/uploads/<int:pk>/cancel/", views.cancel_upload, name="cancel-upload"),
    path("try/<slug:name>/<int:number>/", views.try_page, name="try"),
    path("compare/", views.run_compare, name="compare"),
    path("<int:pk>/", views.run_detail, name="detail"),
    path("experiments/", views.experiment_list, name="experiments"),
    path("experiments/<slug:key>/", views.experiment_start, name="experiment"),
    path("experiments/jobs/<int:pk>/", views.experiment_job, name="experiment-job"),
    path("experiments/jobs/<int:pk>/outcome.zip", views.experiment_file, name="experiment-file"),
    path("<int:pk>/tests/", views.run_tests, name="tests"),
    path("<int:pk>/scores/", views.run_scores, name="scores"),
    path("<int:pk>/lists/", views.run_lists, name="lists"),
    path("<int:pk>/groups/", views.run_groups, name="groups"),
    path("<int:pk>/resume/", views.run_resume, name="resume"),
    path("<int:pk>/metrics.csv", views.run_csv, {"kind": "metrics"}, name="metrics_csv"),
    path("<int:pk>/users.csv", views.run_csv, {"kind": "users"}, name="users_csv"),
    path("<int:pk>/groups.csv", views.run_csv, {"kind": "groups"}, name="groups_csv"),
    path("<int:pk>/figures/<slug:name>.svg", views.run_figure, name="figure"),
    path("<int:pk>/progress/", views.run_progress, name="progress"),
    path("<int:pk>/cancel/", views.run_cancel, name="cancel"),
    path("<int:pk>/results.json", views.run_json, name="json"),
]
