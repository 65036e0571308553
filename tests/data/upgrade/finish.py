"""Finish the half-finished participants of the stored study, and print what must not have changed, as JSON.

finish.py EXPECTED.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402
from walk import ABOUT, Walk  # noqa: E402

from evaluation.models import MetricResult, RunPart, TrainedModel  # noqa: E402
from studies.models import Participant  # noqa: E402


def main() -> None:
    settings.ALLOWED_HOSTS = ["*"]
    expected = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    items, half = expected["items"], expected["half_finished"]

    places = {
        name: Client().get(address, follow=True).request["PATH_INFO"].removeprefix(address)
        for name, address in half.items()
    }

    walk = Walk(6, half["about"])
    walk.post("about/", ABOUT)
    walk.rate_all(items)
    walk.post("recommendations/", {})
    walk.answer_all()

    walk = Walk(7, half["rate"])
    walk.rate_all(items, n_rated=3)
    walk.post("recommendations/", {})
    walk.answer_all()

    Walk(8, half["items"]).answer_all(n_answered=2)

    found = {
        "places": places,
        "models": sorted(TrainedModel.objects.values_list("digest", flat=True)),
        "results": sorted(RunPart.objects.values_list("result_digest", flat=True)),
        "metrics": sorted(set(MetricResult.objects.values_list("users_digest", flat=True))),
        "statuses": sorted(Participant.objects.values_list("status", flat=True)),
    }
    print(json.dumps(found))  # noqa: T201


main()
