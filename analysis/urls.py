"""Routes of the reports."""

from __future__ import annotations

from django.urls import path

from analysis import views

app_name = "analysis"
urlpatterns = [
    path("", views.report_list, name="list"),
    path("new/", views.report_new, name="new"),
    path("<int:pk>/", views.report_detail, name="detail"),
    path("<int:pk>/report.html", views.report_file, name="html"),
    path("<int:pk>/report.json", views.report_numbers, name="json"),
]
