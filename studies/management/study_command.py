"""The base of the commands about one study."""

from __future__ import annotations

from django.core.management.base import CommandError

from core.commands import ParallaxCommand
from studies.models import Study


class StudyCommand(ParallaxCommand):
    """A command about the study that one of its arguments names."""

    def study(self, slug: str) -> Study:
        study = Study.objects.select_related("dataset_version__dataset").filter(slug=slug).first()
        if study is None:
            known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no study called {slug!r}; the studies are: {known}.")
        return study
