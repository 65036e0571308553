"""Configuration of the catalog app."""

from __future__ import annotations

from django.apps import AppConfig

from jobs.kinds import Kind, register

# Who else may see the pictures of a version, added by storeys above: dotted paths of functions of an account and the
# version's primary key.
PICTURE_READERS: set[str] = set()


class CatalogConfig(AppConfig):
    """The catalog app."""

    name = "catalog"

    def ready(self) -> None:
        """Register the jobs of workers; the versions that they made stay."""
        services = "catalog.services.dataset_jobs"
        titles = {"import": "Import", "download": "Download", "metadata": "Item metadata", "subset": "Subset"}
        for key, title in titles.items():
            register(
                Kind(
                    key,
                    title,
                    work=f"{services}.change_catalogue",
                    after=f"{services}.drop_files",
                    cancelled=f"{services}.delete_files",
                    kept_days=30,
                    address="catalog.api.version_made",
                )
            )
