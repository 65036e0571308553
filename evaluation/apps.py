"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    """The evaluation app."""

    name = "evaluation"
