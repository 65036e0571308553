"""Routes of the console's study pages, and of the participants'."""

from __future__ import annotations

from django.urls import include, path

from studies.views import console, data, interviewer, planning, questionnaires, recruiting
from studies.views.participant import about, details, ending, entry, events, questions, rating

console_urlpatterns = [
    path("", console.study_list, name="list"),
    path("new/", console.study_new, name="new"),
    path("<slug:slug>/", console.study_detail, name="detail"),
    path("<slug:slug>/live/", console.study_live, name="live"),
    path("<slug:slug>/design/", console.study_design, name="design"),
    path("<slug:slug>/questionnaire/", questionnaires.questionnaire, name="questionnaire"),
    path("<slug:slug>/questionnaire/file.yaml", questionnaires.questionnaire_file, name="questionnaire-file"),
    path("<slug:slug>/questionnaire/import/", questionnaires.questionnaire_import, name="questionnaire-import"),
    path("<slug:slug>/questionnaire/preview/<str:block>/", questionnaires.preview, name="questionnaire-preview"),
    path("<slug:slug>/questionnaire/add/", questionnaires.question_add, name="question-add"),
    path("<slug:slug>/questionnaire/question/<str:key>/", questionnaires.question_edit, name="question-edit"),
    path("<slug:slug>/questionnaire/question/<str:key>/act/", questionnaires.question_act, name="question-act"),
    path("<slug:slug>/questionnaire/scales/", questionnaires.scale_act, name="scale-act"),
    path("<slug:slug>/questionnaire/attention/", questionnaires.attention_set, name="attention-set"),
    path("<slug:slug>/questionnaire/blocks/", questionnaires.block_add, name="block-add"),
    path("<slug:slug>/design.json", console.study_design_file, name="design-file"),
    path("<slug:slug>/power/", planning.study_power, name="power"),
    path("<slug:slug>/estimate/", planning.study_estimate, name="estimate"),
    path("<slug:slug>/imbalance/", planning.study_imbalance, name="imbalance"),
    path("<slug:slug>/preregistration/<str:form>.md", planning.study_preregistration, name="preregistration"),
    path("<slug:slug>/preview/", console.study_preview, name="preview"),
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
    path("<slug:slug>/recruiting/", recruiting.study_recruiting, name="recruiting"),
    path("<slug:slug>/recruiting/panel/", recruiting.set_panel, name="set-panel"),
    path("<slug:slug>/recruiting/exits/<str:outcome>/", recruiting.set_exit, name="set-exit"),
    path("<slug:slug>/recruiting/links/", recruiting.make_links, name="make-links"),
    path("<slug:slug>/recruiting/links/close/", recruiting.close_links, name="close-links"),
    path("<slug:slug>/recruiting/guests/", recruiting.set_guests, name="set-guests"),
    path("<slug:slug>/submissions/", recruiting.study_submissions, name="submissions"),
    path("<slug:slug>/submissions.csv", recruiting.approvals_file, name="approvals-file"),
    path("<slug:slug>/interview/", interviewer.interview, name="interview"),
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
    path("p/<str:token>/after/", ending.after, name="after"),
    path("p/<str:token>/thanks/", ending.thanks, name="thanks"),
    path("p/<str:token>/details/<int:item_id>/", details.details, name="details"),
    path("p/<str:token>/trailer/<int:item_id>/", details.trailer, name="trailer"),
    path("p/<str:token>/events/", events.events, name="events"),
    path("p/<str:token>/withdraw/", ending.withdraw, name="withdraw"),
    path("p/<str:token>/exit/", ending.leave, name="exit"),
    path("<slug:slug>/", entry.consent, name="consent"),
    path("<slug:slug>/link/<str:key>/", entry.by_personal_link, name="personal"),
    path("<slug:slug>/link/<str:key>/hand-over/", entry.hand_over, name="hand-over"),
]
urlpatterns = [
    path("studies/", include((console_urlpatterns, "studies"))),
    path("s/", include((participant_urlpatterns, "participant"))),
]
