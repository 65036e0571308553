"""What Django needs to know of this app."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig

from jobs.kinds import Kind, register


class StudiesConfig(AppConfig):
    """The studies app."""

    name = "studies"

    def ready(self) -> None:
        """Listen for erasures, so that no stored export outlives the answers of a participant in it, and for accepted
        invitations and closed accounts, so that roles are granted and no study loses its owner. Members see the
        pictures that their studies show.
        """
        new_study = "studies.design.services.new_study"
        register(
            Kind("export", "Export", work="studies.data.services.exports.write_requested", kept_days=7),
            Kind("study", "Study", work=f"{new_study}.create_requested", ready=f"{new_study}.is_ready", kept_days=30),
            Kind("simulation", "Simulation", work="studies.simulation.services.pilot.simulate"),
        )
        import_module("studies.data.services.exports")
        import_module("studies.team.services.members")
        let_see_pictures = import_module("catalog.permissions").let_see_pictures
        let_see_pictures(import_module("studies.team.permissions").shows_items_to)
