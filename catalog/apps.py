"""Configuration of the catalog app."""

from __future__ import annotations

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    """The catalog app."""

    name = "catalog"
