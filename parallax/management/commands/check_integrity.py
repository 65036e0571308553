from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from parallax.integrity.checking import findings


class Command(BaseCommand):
    help = "Prove that no answer is lost or doubled and that slots, artefacts, runs and exports agree; changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        is_json = options["json"]
        checked: list[str] = []

        def progress(words: str) -> None:
            checked.append(words)
            if not is_json:
                self.stdout.write(f"Checking: {words}")

        found = []
        for finding in findings(progress):
            found.append(finding)
            if not is_json:
                ids = "; ".join(f"{kind} {', '.join(map(str, keys))}" for kind, keys in finding.ids.items())
                self.stdout.write(f"  {finding.code} in {finding.where}: {finding.what}")
                self.stdout.write(f"    {finding.advice}" + (f" ({ids})" if ids else ""))
        if is_json:
            told = {"checked": checked, "findings": [finding.as_dict() for finding in found]}
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(f"{len(found)} findings." if found else "Nothing is wrong.")
        if found:
            raise SystemExit(1)
