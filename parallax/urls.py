"""Routes of the apps."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path, re_path

from accounts.urls import library_patterns
from parallax import views
from parallax.api.views import NotFoundView
from parallax.shell import views as shell

admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # by the console's sign-in

urlpatterns = [
    path("", shell.home, name="home"),
    path("taste/", shell.taste_page, name="taste"),
    path("search/", shell.search_page, name="search"),
    path("help/", shell.help_page, name="help"),
    path("help/<path:path>", shell.help_page, name="help"),
    path("favicon.ico", shell.favicon, name="favicon"),
    path("account/", include("accounts.urls")),
    path("account/", include(library_patterns)),
    path("catalog/", include("catalog.urls")),
    path("runs/", include("evaluation.urls")),
    path("", include("studies.urls")),
    path("reports/", include("analysis.urls")),
    path("projects/", include("parallax.projects.urls")),
    path("replications/", include("parallax.replication.urls")),
    path("api/v1/", include("parallax.api.urls")),
    re_path("^api(?:/|$)", NotFoundView.as_view()),
    path("health/", views.health, name="health"),
    path("ready/", views.ready, name="ready"),
    path("metrics/", views.metrics, name="metrics"),
    path("admin/", admin.site.urls),
]
handler400 = "parallax.views.bad_request"
handler403 = "parallax.views.permission_denied"
handler404 = "parallax.views.page_not_found"
handler500 = "parallax.views.server_error"
