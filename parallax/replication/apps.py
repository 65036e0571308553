"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig

from jobs.kinds import Kind, register


class ReplicationConfig(AppConfig):
    """Replications of papers that are started in the console."""

    name = "parallax.replication"

    def ready(self) -> None:
        services = "parallax.replication.services"
        register(
            Kind(
                "replication",
                "Replication",
                work=f"{services}.do_next_step",
                ready=f"{services}.is_ready",
                keeps_file=f"{services}.may_be_downloaded",
            )
        )
