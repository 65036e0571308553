"""Warnings beside a save: nothing is refused for them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest

from studies.design.selectors.literal_numbers import literal_number_warnings
from studies.models import Study


def warn_of_numbers(request: HttpRequest, study: Study) -> None:
    """Say which numbers in the texts and questions, as they are saved now, disagree with the settings."""
    for warning in literal_number_warnings(Study.objects.get(pk=study.pk)):
        messages.warning(request, warning)
