"""Routes of the console's study pages, and of the participants'."""

from __future__ import annotations

from django.urls import include, path

from studies.views import console, data, keeping, lists, notices, planning
from studies.views.participant import about, details, ending, entry, questions, rating

console_urlpatterns = [
    path("", console.study_list, name="list"),
    path("new/", console.study_new, name="new"),
    path("notices/", notices.notice_list, name="notices"),
    path("notices/count/", notices.notice_count, name="notice-count"),
    path("notices/read/", notices.notice_read, name="notice-read"),
    path("notices/mail/", notices.notice_mail, name="notice-mail"),
    path("<slug:slug>/", console.study_detail, name="detail"),
    path("<slug:slug>/live/", console.study_live, name="live"),
    path("<slug:slug>/design/", console.study_design, name="design"),
    path("<slug:slug>/design.json", console.study_design_file, name="design-file"),
    path("<slug:slug>/power/", planning.study_power, name="power"),
    path("<slug:slug>/imbalance/", planning.study_imbalance, name="imbalance"),
    path("<slug:slug>/preregistration/<str:form>.md", planning.study_preregistration, name="preregistration"),
    path("<slug:slug>/preview/", lists.study_preview, name="preview"),
    path("<slug:slug>/lists/", lists.study_lists, name="lists"),
    path("<slug:slug>/consent/", keeping.study_consent, name="consent"),
    path("<slug:slug>/duplicate/", keeping.study_duplicate, name="duplicate"),
    path("<slug:slug>/archive/", keeping.study_archive, name="archive"),
    path("<slug:slug>/restore/", keeping.study_restore, name="restore"),
    path("<slug:slug>/delete/", keeping.study_delete, name="delete"),
    path("<slug:slug>/launch/", console.study_launch, name="launch"),
    path("<slug:slug>/pause/", console.study_pause, name="pause"),
    path("<slug:slug>/resume/", console.study_resume, name="resume"),
    path("<slug:slug>/close/", console.study_close, name="close"),
    path("<slug:slug>/members/", console.member_list, name="members"),
    path("<slug:slug>/members/add/", console.member_add, name="member-add"),
    path("<slug:slug>/members/<int:pk>/remove/", console.member_remove, name="member-remove"),
    path("<slug:slug>/export/", data.study_export, name="export-chosen"),
    path("<slug:slug>/export/<str:kind>/", data.study_export, name="export"),
    path("<slug:slug>/exports/<int:pk>/", data.export_file, name="export-file"),
    path("<slug:slug>/quality/", data.study_quality, name="quality"),
    path("<slug:slug>/quality/<int:pk>/exclude/", data.participant_exclude, name="exclude"),
    path("<slug:slug>/quality/<int:pk>/include/", data.participant_include, name="include"),
    path("<slug:slug>/outcomes/open/", data.study_open_outcomes, name="open-outcomes"),
    path("<slug:slug>/retention/", data.study_retention, name="retention"),
]
# The token in the address is the participant's own link.
participant_urlpatterns = [
    path("p/<str:token>/", entry.resume_by_link, name="resume"),
    path("p/<str:token>/about/", about.about, name="about"),
    path("p/<str:token>/rate/", rating.rate, name="rate"),
    path("p/<str:token>/rate/<int:item_id>/", rating.rate_item, name="rate_item"),
    path("p/<str:token>/recommendations/", questions.recommendations, name="recommendations"),
    path("p/<str:token>/films/<int:rank>/", questions.item, name="item"),
    path("p/<str:token>/overall/", ending.overall, name="overall"),
    path("p/<str:token>/thanks/", ending.thanks, name="thanks"),
    path("p/<str:token>/details/<int:item_id>/", details.details, name="details"),
    path("p/<str:token>/trailer/<int:item_id>/", details.trailer, name="trailer"),
    path("p/<str:token>/withdraw/", ending.withdraw, name="withdraw"),
    path("<slug:slug>/", entry.consent, name="consent"),
]
urlpatterns = [
    path("studies/", include((console_urlpatterns, "studies"))),
    path("s/", include((participant_urlpatterns, "participant"))),
]
