"""Routes of the reports."""

from __future__ import annotations

from django.urls import include, path

from analysis import views

app_name = "analysis"
report_pages = [
    path("", views.report_detail, name="detail"),
    path("chapters/<slug:chapter>/", views.report_chapter, name="chapter"),
    path("comments/", views.report_comments, name="comments"),
    path("files/", views.report_files, name="files"),
    path("bayesian/", views.bayesian_progress, name="bayesian"),
    path("bayesian/request/", views.bayesian_request, name="bayesian-request"),
    path("bayesian/cancel/", views.bayesian_cancel, name="bayesian-cancel"),
    path("<path:name>", views.report_file, name="file"),
]
urlpatterns = [
    path("", views.report_list, name="list"),
    path("new/", views.report_new, name="new"),
    path("requests/<int:pk>/", views.report_request, name="request"),
    path("requests/<int:pk>/cancel/", views.report_request_cancel, name="request-cancel"),
    path("studies/<slug:study>/<int:number>/", include(report_pages)),
    # Addresses before reports were counted by study, which papers and letters may name.
    path("<int:pk>/", views.report_by_key, name="former"),
    path("<int:pk>/<path:rest>", views.report_by_key, name="former-part"),
]
