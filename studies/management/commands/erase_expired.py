from __future__ import annotations

from typing import Any

from core.commands import ParallaxCommand
from studies.data.services.retention import erase_expired


class Command(ParallaxCommand):
    help = "Erase external ids and answers of closed studies whose retention limit has passed; the worker does it too."

    def handle(self, *args: Any, **options: Any) -> None:
        counted = erase_expired()
        self.stdout.write(
            f"Erased {counted['external_ids']} external ids, {counted['identifying_answers']} answers that identify "
            f"people, and the answers of {counted['participants']} participants."
        )
