"""Routes of the participant pages. The token in the address is the participant's own link."""

from __future__ import annotations

from django.urls import path

from studies.views import participant as views

participant_urlpatterns = [
    path("p/<str:token>/", views.resume_by_link, name="resume"),
    path("p/<str:token>/about/", views.about, name="about"),
    path("p/<str:token>/rate/", views.rate, name="rate"),
    path("p/<str:token>/rate/<int:item_id>/", views.rate_item, name="rate_item"),
    path("p/<str:token>/recommendations/", views.recommendations, name="recommendations"),
    path("p/<str:token>/films/<int:rank>/", views.item, name="item"),
    path("p/<str:token>/overall/", views.overall, name="overall"),
    path("p/<str:token>/thanks/", views.thanks, name="thanks"),
    path("p/<str:token>/details/<int:item_id>/", views.details, name="details"),
    path("p/<str:token>/trailer/<int:item_id>/", views.trailer, name="trailer"),
    path("<slug:slug>/", views.consent, name="consent"),
]
