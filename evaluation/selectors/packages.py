"""The packages that third parties' algorithms came with, as runs recorded them."""

from __future__ import annotations

from evaluation.models import EvaluationRun


def package_label(package: str, key: str) -> str:
    """Name a package among the versions of a run, with the key of the algorithm it provides."""
    return f"{package} (algorithm {key})"


def recorded_package(key: str) -> str | None:
    """Give the package that a third party's algorithm came with in its last run, as pip takes it; None if unknown."""
    runs = EvaluationRun.objects.filter(algorithms__algorithm=key).order_by("-pk").values_list("environment", flat=True)
    suffix = package_label("", key)
    for environment in runs:
        for label, version in environment.items():
            if label.endswith(suffix):
                return f"{label.removesuffix(suffix)}=={version}"
    return None
