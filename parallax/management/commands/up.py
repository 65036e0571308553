from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from core.commands import ParallaxCommand
from evaluation.management.arguments import at_least_one
from parallax.children import Children, stop_on_signals


class Command(ParallaxCommand):
    help = "Start the web server and a worker as children of this process; Ctrl-C stops both."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--workers", type=at_least_one, default=1, help="Celery workers to start, besides the one for short jobs"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        stop_on_signals()
        try:
            with Children(host=options["host"], port=options["port"], workers=options["workers"]) as children:
                self.stdout.write(f"Parallax is ready at {children.url}")
                self.stdout.flush()
                children.wait()
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")
