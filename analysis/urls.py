"""Routes of the reports."""

from __future__ import annotations

from django.urls import path

from analysis import views

app_name = "analysis"
urlpatterns = [
    path("", views.report_list, name="list"),
    path("new/", views.report_new, name="new"),
    path("requests/<int:pk>/", views.report_request, name="request"),
    path("requests/<int:pk>/cancel/", views.report_request_cancel, name="request-cancel"),
    path("<int:pk>/", views.report_detail, name="detail"),
    path("<int:pk>/chapters/<slug:chapter>/", views.report_chapter, name="chapter"),
    path("<int:pk>/comments/", views.report_comments, name="comments"),
    path("<int:pk>/files/", views.report_files, name="files"),
    path("<int:pk>/bayesian/", views.bayesian_progress, name="bayesian"),
    path("<int:pk>/bayesian/request/", views.bayesian_request, name="bayesian-request"),
    path("<int:pk>/bayesian/cancel/", views.bayesian_cancel, name="bayesian-cancel"),
    path("<int:pk>/<path:name>", views.report_file, name="file"),
]
