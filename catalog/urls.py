"""Routes of the catalogue."""

from __future__ import annotations

from django.urls import path

from catalog.views import changes, imports, media, pages

app_name = "catalog"
urlpatterns = [
    path("", pages.dataset_list, name="list"),
    path("import/dataset/", imports.import_upload, name="import"),
    path("import/movielens/", imports.download, name="download"),
    path("import/<int:pk>/recipe.yaml", imports.recipe, name="recipe"),
    path("import/<int:pk>/<slug:step>/", imports.import_step, name="step"),
    path("import/jobs/<int:pk>/", imports.job_page, name="job"),
    path("import/jobs/<int:pk>/cancel/", imports.cancel, name="job-cancel"),
    path("import/jobs/<int:pk>/retry/", imports.retry, name="job-retry"),
    path("posters/<int:item_id>.svg", media.poster, name="poster"),
    path("clips/<int:item_id>", media.clip, name="clip"),
    path("<slug:name>/", pages.newest, name="newest"),
    path("<slug:name>/<int:number>/", pages.version_page, name="version"),
    path("<slug:name>/<int:number>/retire/", pages.retire, name="retire"),
    path("<slug:name>/<int:number>/item-type/", pages.set_items, {"what": "item_type"}, "item-type"),
    path("<slug:name>/<int:number>/item-language/", pages.set_items, {"what": "language"}, "item-language"),
    path("<slug:name>/<int:number>/metadata/", changes.add_item_metadata, name="metadata"),
    path("<slug:name>/<int:number>/subset/", changes.create_version_subset, name="subset"),
    path("<slug:name>/<int:number>/subset/count/", changes.subset_count, name="subset-count"),
    path("<slug:name>/<int:number>/items/", pages.item_grid, name="items"),
    path("<slug:name>/<int:number>/items/<int:index>/", pages.item_page, name="item"),
]
