"""Addresses of the gallery of components."""

from __future__ import annotations

from django.urls import path

from parallax.design import views

app_name = "design"

urlpatterns = [
    path("", views.gallery_page, name="gallery"),
    path("<slug:key>/", views.gallery_page, name="page"),
]
