"""URLs of projects."""

from __future__ import annotations

from django.urls import path

from parallax.projects import views

app_name = "projects"
urlpatterns = [
    path("", views.project_list, name="list"),
    path("datasets/<slug:name>/", views.dataset_move, name="move"),
    path("<int:pk>/", views.project_detail, name="detail"),
    path("<int:pk>/rename/", views.project_rename, name="rename"),
    path("<int:pk>/members/", views.member_set, name="member-set"),
    path("<int:pk>/members/<int:membership>/remove/", views.member_remove, name="member-remove"),
]
