from __future__ import annotations

from typing import Any

from core.commands import ParallaxCommand
from parallax.doctor import machine, services, stored_files
from parallax.doctor.diagnosis import Level

CHECKS = (
    machine.check_versions,
    services.check_settings,
    machine.check_private_files,
    machine.check_disk,
    services.check_database_state,
    stored_files.check_storages,
    stored_files.check_import_folder,
    services.check_clock,
    services.check_broker,
    services.check_workers,
    services.check_mail,
    machine.check_kernels,
)


class Command(ParallaxCommand):
    help = "Check this installation and say what to fix, and how. Exits with status 1 if anything must be fixed."
    requires_system_checks = ()  # they are part of the answer

    def handle(self, *args: Any, **options: Any) -> None:
        n_problems = 0
        for diagnosis in (each for check in CHECKS for each in check()):
            n_problems += diagnosis.level is Level.PROBLEM
            self.stdout.write(f"{diagnosis.level.value:<8} {diagnosis.subject}: {diagnosis.what}")
            if diagnosis.remedy:
                self.stdout.write(f"         {diagnosis.remedy}")
        if n_problems:
            self.stdout.write(f"Problems to fix: {n_problems}.")
            raise SystemExit(1)
        self.stdout.write("No problems found.")
