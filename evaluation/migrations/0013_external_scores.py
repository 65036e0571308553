"""Scores of other systems for the cases of a run, with their results."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0012_remote_recommenders"),
    ]

    operations = [
        migrations.CreateModel(
            name="ExternalScores",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("name", models.CharField(max_length=80)),
                ("scores_digest", models.CharField(max_length=64)),
                ("users_digest", models.CharField(max_length=64)),
                ("results", models.JSONField()),
                ("coverage", models.CharField(max_length=200)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="external_scores",
                        to="evaluation.evaluationrun",
                    ),
                ),
            ],
            options={
                "ordering": ["run_id", "pk"],
                "constraints": [models.UniqueConstraint(fields=("run", "name"), name="external_scores_once")],
            },
        ),
    ]
