"""Routes of the catalogue."""

from __future__ import annotations

from django.urls import path

from catalog import views

app_name = "catalog"
urlpatterns = [
    path("", views.dataset_list, name="list"),
    path("posters/<int:item_id>.svg", views.poster, name="poster"),
    path("<slug:name>/", views.newest, name="newest"),
    path("<slug:name>/<int:number>/", views.version_page, name="version"),
    path("<slug:name>/<int:number>/retire/", views.retire, name="retire"),
    path("<slug:name>/<int:number>/item-type/", views.set_item_type, name="item-type"),
    path("<slug:name>/<int:number>/item-language/", views.set_item_language, name="item-language"),
    path("<slug:name>/<int:number>/metadata/", views.add_item_metadata, name="metadata"),
    path("<slug:name>/<int:number>/subset/", views.make_version_subset, name="subset"),
    path("<slug:name>/<int:number>/items/", views.item_grid, name="items"),
    path("<slug:name>/<int:number>/items/<int:index>/", views.item_page, name="item"),
]
