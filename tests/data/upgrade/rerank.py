"""Re-rank the lists of each stored model, and print what became of its row, as JSON."""

from __future__ import annotations

import json
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from evaluation.models import EvaluationRun, TrainedModel  # noqa: E402
from evaluation.services.training import train_or_reuse  # noqa: E402


def main() -> None:
    run = EvaluationRun.objects.get()
    found = []
    for model in TrainedModel.objects.order_by("pk"):
        trained = train_or_reuse(
            version=model.version,
            training_digest=model.training_digest,
            algorithm=f"{model.algorithm}|popularity",
            params={**model.params, "popularity_strength": 0.5},
            seed=run.seed,
            threads=model.threads,
        ).model
        found.append(
            {
                "origin": model.origin,
                "base": model.base_id,
                "provenance": model.provenance,
                "is_reused": trained.base_id == model.pk,
            }
        )
    print(json.dumps(found))  # noqa: T201


main()
