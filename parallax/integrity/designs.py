"""Checks of what studies store of their designs."""

from __future__ import annotations

from collections.abc import Iterator

from parallax.integrity.findings import Finding
from studies.models import Study
from studies.settings import settings_problems


def check_settings(study: Study) -> Iterator[Finding]:
    """Settings that cannot be used, in place of which pages show the defaults."""
    for problem in settings_problems(study.settings):
        yield Finding(
            "design.bad_setting",
            study.slug,
            f"The setting {problem}",
            "Save the design of a draft again, which stores every setting anew. Of a study that was launched, restore "
            "the settings from a backup or from its frozen version.",
            {"study": [study.pk]},
        )
