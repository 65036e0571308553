"""Print the JSON Schema of a report's numbers, which docs/reference publishes."""

from __future__ import annotations

from typing import Any

from core.commands import ParallaxCommand


class Command(ParallaxCommand):
    help = "Print the JSON Schema of report.json."

    def handle(self, *args: Any, **options: Any) -> None:
        from analysis.results.schema import report_schema

        self.stdout.write(report_schema().decode(), ending="")
