from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from core.commands import ParallaxCommand
from parallax.integrity.all_checks import findings


class Command(ParallaxCommand):
    help = (
        "Check that no answer is lost or duplicated and that slots, artefacts, runs and exports agree. Changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        is_json = options["json"]
        checked: list[str] = []

        def progress(words: str) -> None:
            checked.append(words)
            if not is_json:
                self.stdout.write(f"Checking: {words}")

        all_findings = []
        for finding in findings(progress):
            all_findings.append(finding)
            if not is_json:
                ids = "; ".join(f"{kind} {', '.join(map(str, keys))}" for kind, keys in finding.ids.items())
                self.stdout.write(f"  {finding.code} in {finding.where}: {finding.what}")
                self.stdout.write(f"    {finding.advice}" + (f" ({ids})" if ids else ""))
        if is_json:
            summary = {"checked": checked, "findings": [asdict(finding) for finding in all_findings]}
            self.stdout.write(json.dumps(summary, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(f"{len(all_findings)} findings." if all_findings else "No problems found.")
        if all_findings:
            raise SystemExit(1)
