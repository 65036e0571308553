"""A program, run by test_methods_at_once.py: a smaller crowd for every method of assignment but the first.

It prints one JSON object of what it found; the test says what is right.
"""

# ruff: noqa: I001 - the first import from the tests sets Django up

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.studies.hundred_at_once import come_and_go, fill, study_of_seven

from django.core.management import call_command
from django.db import connection


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    first = None
    found = {"vendor": connection.vendor}
    for method in ("minimisation", "least_filled", "simple"):
        slug = method.replace("_", "-")
        filled = study_of_seven(f"fill-{slug}", 8, first, method=method)
        first = first or filled
        found[method] = {
            "fill": fill(filled, 40),
            "come_and_go": come_and_go(study_of_seven(f"come-and-go-{slug}", 3, first, method=method), 21),
        }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
