"""Build the stored installation that `tests/e2e/test_upgrade.py` upgrades.

Run it in a checkout of the older version with an empty `PARALLAX_VAR`, once on SQLite and once on PostgreSQL, with this
folder on the path. It prints what has to be the same after the upgrade, as JSON:

    PYTHONPATH=.:HERE PARALLAX_VAR=… [DATABASE_URL=…] SECRET_KEY=upgrade .venv/bin/python HERE/build.py > sqlite.json

`sqlite.sql.gz` is `sqlite3 .dump` of the database; `postgresql.sql.gz` is `pg_dump --no-owner --inserts` of the other,
without lines that begin with a backslash; `artefacts.tar.gz` holds the folder of that name. No participant is a person.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

import numpy as np  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from walk import ABOUT, Walk  # noqa: E402

from catalog.models import Item  # noqa: E402
from evaluation.models import MetricResult, RunPart, TrainedModel  # noqa: E402
from studies.models import Participant, Study  # noqa: E402

SLUG = "older-study"


def ratings_csv(path: Path) -> None:
    """Synthetic ratings of 60 users and 40 items, in two groups of taste."""
    rng = np.random.default_rng(7)
    lines = ["user,item,rating"]
    for user in range(60):
        for item in rng.choice(40, size=18, replace=False):
            mean = 4.2 if (item % 2) == (user % 2) else 2.2
            lines.append(f"{user},{item},{int(np.clip(round(rng.normal(mean, 0.9)), 1, 5))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    get_user_model().objects.create_superuser("owner@example.org", "upgrade-password")
    source = Path(os.environ["PARALLAX_VAR"]) / "ratings.csv"
    ratings_csv(source)
    call_command("import_dataset", str(source), name="older", stdout=sys.stderr)
    call_command(
        "evaluate", "older", algorithms="toppop,puresvd:factors=4,corngr", split="probe:share=0.2", negatives=10,
        workers=1, stdout=sys.stderr,
    )  # fmt: skip
    call_command("create_study", SLUG, dataset="older", seed=1, per_condition=3, stdout=sys.stderr)
    call_command("launch_study", SLUG, stdout=sys.stderr)
    study = Study.objects.get(slug=SLUG)
    items = list(Item.objects.filter(version=study.dataset_version).order_by("index").values_list("pk", flat=True))[:5]
    half: dict[str, str] = {}
    for number in range(9):
        walk = Walk(number)
        walk.consent(SLUG)
        if number == 6:
            half["about"] = walk.base
            continue
        walk.post("about/", ABOUT)
        if number == 7:
            walk.rate(items[:3])
            half["rate"] = walk.base
            continue
        walk.rate_all(items)
        walk.post("recommendations/", {})
        if number == 8:
            walk.answer_item(1)
            walk.answer_item(2)
            half["items"] = walk.base
            continue
        walk.answer_all()
    expected = {
        "half_finished": half,
        "items": items,
        "models": sorted(TrainedModel.objects.values_list("digest", flat=True)),
        "results": sorted(RunPart.objects.values_list("result_digest", flat=True)),
        "metrics": sorted(set(MetricResult.objects.values_list("users_digest", flat=True))),
        "statuses": dict.fromkeys(sorted(Participant.objects.values_list("status", flat=True)), 0),
    }
    for status in Participant.objects.values_list("status", flat=True):
        expected["statuses"][status] += 1
    print(json.dumps(expected, indent=1))  # noqa: T201


main()
