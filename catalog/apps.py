"""Configuration of the catalog app."""

from __future__ import annotations

from django.apps import AppConfig

from jobs.kinds import Kind, register


class CatalogConfig(AppConfig):
    """The catalog app."""

    name = "catalog"

    def ready(self) -> None:
        """Register the jobs of workers; the versions that they made stay."""
        services = "catalog.services.dataset_jobs"
        work, after = f"{services}.change_catalogue", f"{services}.drop_files"
        titles = {"import": "Import", "download": "Download", "metadata": "Item metadata", "subset": "Subset"}
        register(*(Kind(key, title, work=work, after=after, kept_days=30) for key, title in titles.items()))
