"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class ReplicationConfig(AppConfig):
    """Replications of papers that are started in the console."""

    name = "parallax.replication"
