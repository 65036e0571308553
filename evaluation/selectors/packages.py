"""Packages of third-party algorithms, as recorded by runs."""

from __future__ import annotations

from evaluation.models import EvaluationRun


def package_label(package: str, key: str) -> str:
    """Label a package among the versions of a run with the key of its algorithm."""
    return f"{package} (algorithm {key})"


def recorded_package(key: str) -> str | None:
    """Return the package of a third-party algorithm in its last run as a pip requirement; None if unknown."""
    runs = EvaluationRun.objects.filter(algorithms__algorithm=key).order_by("-pk").values_list("environment", flat=True)
    suffix = package_label("", key)
    for environment in runs:
        for label, version in environment.items():
            if label.endswith(suffix):
                return f"{label.removesuffix(suffix)}=={version}"
    return None
