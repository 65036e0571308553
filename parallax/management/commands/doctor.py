from __future__ import annotations

from typing import Any

from core.commands import ParallaxCommand
from parallax.doctor.all_checks import diagnoses
from parallax.doctor.diagnosis import Level

LABELS = {Level.OK: "ok", Level.ADVICE: "advice", Level.PROBLEM: "PROBLEM"}


class Command(ParallaxCommand):
    help = "Check this installation and say what to fix, and how. Exits with status 1 if anything must be fixed."
    requires_system_checks = ()  # they are part of the answer

    def handle(self, *args: Any, **options: Any) -> None:
        n_problems = 0
        for diagnosis in diagnoses():
            n_problems += diagnosis.level is Level.PROBLEM
            self.stdout.write(f"{LABELS[diagnosis.level]:<8} {diagnosis.subject}: {diagnosis.what}")
            if diagnosis.remedy:
                self.stdout.write(f"         {diagnosis.remedy}")
        if n_problems:
            self.stdout.write(f"Problems to fix: {n_problems}.")
            raise SystemExit(1)
        self.stdout.write("No problems found.")
