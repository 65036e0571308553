"""Routes of the console's study pages, and of the participants'."""

from __future__ import annotations

from django.urls import include, path

from studies.participant_urls import participant_urlpatterns
from studies.views import console

console_urlpatterns = [
    path("", console.study_list, name="list"),
    path("new/", console.study_new, name="new"),
    path("<slug:slug>/", console.study_detail, name="detail"),
    path("<slug:slug>/live/", console.study_live, name="live"),
    path("<slug:slug>/design/", console.study_design, name="design"),
    path("<slug:slug>/design.json", console.study_design_file, name="design-file"),
    path("<slug:slug>/preview/", console.study_preview, name="preview"),
    path("<slug:slug>/launch/", console.study_launch, name="launch"),
    path("<slug:slug>/pause/", console.study_pause, name="pause"),
    path("<slug:slug>/resume/", console.study_resume, name="resume"),
    path("<slug:slug>/close/", console.study_close, name="close"),
    path("<slug:slug>/members/", console.member_list, name="members"),
    path("<slug:slug>/members/add/", console.member_add, name="member-add"),
    path("<slug:slug>/members/<int:pk>/remove/", console.member_remove, name="member-remove"),
    path("<slug:slug>/export/<str:kind>/", console.study_export, name="export"),
]
urlpatterns = [
    path("studies/", include((console_urlpatterns, "studies"))),
    path("s/", include((participant_urlpatterns, "participant"))),
]
