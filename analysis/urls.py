"""Routes of the reports."""

from __future__ import annotations

from django.urls import path

from analysis import views

app_name = "analysis"
REPORT = "studies/<slug:study>/<int:number>/"
urlpatterns = [
    path("", views.report_list, name="list"),
    path("new/", views.report_new, name="new"),
    path("requests/<int:pk>/", views.report_request, name="request"),
    path("requests/<int:pk>/cancel/", views.report_request_cancel, name="request-cancel"),
    path(REPORT, views.report_detail, name="detail"),
    path(f"{REPORT}chapters/<slug:chapter>/", views.report_chapter, name="chapter"),
    path(f"{REPORT}comments/", views.report_comments, name="comments"),
    path(f"{REPORT}files/", views.report_files, name="files"),
    path(f"{REPORT}bayesian/", views.bayesian_progress, name="bayesian"),
    path(f"{REPORT}bayesian/request/", views.bayesian_request, name="bayesian-request"),
    path(f"{REPORT}bayesian/cancel/", views.bayesian_cancel, name="bayesian-cancel"),
    path(f"{REPORT}<path:name>", views.report_file, name="file"),
    # Addresses before reports were counted by study, which papers and letters may name.
    path("<int:pk>/", views.report_by_key, name="former"),
    path("<int:pk>/<path:rest>", views.report_by_key, name="former-part"),
]
