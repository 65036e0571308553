"""What Django needs to know of this app."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig

from accounts.enums import TOKEN_LIMITS
from catalog.apps import PICTURE_READERS
from jobs.kinds import Kind, register


class StudiesConfig(AppConfig):
    """The studies app."""

    name = "studies"

    def ready(self) -> None:
        """Register the kinds of jobs, and listen to other apps: for erasures, so that no stored export outlives the
        answers of a participant in it; for accepted invitations and closed accounts, so that roles are granted and no
        study loses its owner. Members may see the pictures that their studies show, and limit tokens to a study.
        """
        preparing = "studies.participation.services.preparing"
        canaries = "studies.participation.services.checking_canaries"
        new_study, made_study = "studies.design.services.new_study", "studies.api.studies.made_study"
        exporting = "studies.data.services.exports.write_requested"
        register(
            Kind("export", "Export", work=exporting, kept_days=7, address="studies.api.data.export_url"),
            Kind(
                "study",
                "Study",
                work=f"{new_study}.create_requested",
                ready=f"{new_study}.is_ready",
                kept_days=30,
                address=made_study,
            ),
            Kind("list", "List", work=f"{preparing}.ask_for_list", ready=f"{preparing}.is_ready", kept_days=1),
            Kind("canaries", "Canaries", work=f"{canaries}.check_canaries", kept_days=2),
            Kind("simulation", "Simulation", work="studies.simulation.services.pilot.simulate", address=made_study),
        )
        TOKEN_LIMITS["study"] = "studies.team.selectors.studies.studies_of"
        import_module("studies.data.services.erasure")
        import_module("studies.team.services.members")
        PICTURE_READERS.add("studies.team.permissions.shows_items_to")
