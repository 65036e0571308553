"""The version that an address names."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404

from catalog.models import DatasetVersion
from catalog.selectors.datasets import versions_shown_to


def version_or_404(researcher: Any, name: str, number: int) -> DatasetVersion:
    """The version, retired or not. Raises Http404, also where the researcher may not see it."""
    return get_object_or_404(versions_shown_to(researcher), dataset__name=name, number=number)
