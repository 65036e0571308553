"""The version that an address names."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from catalog.models import DatasetVersion
from catalog.selectors.datasets import version_in_console


def version_or_404(name: str, number: int) -> DatasetVersion:
    """The version, retired or not. Raises Http404."""
    return get_object_or_404(version_in_console(), dataset__name=name, number=number)
