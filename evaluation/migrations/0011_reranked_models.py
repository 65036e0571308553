"""Models know where they come from and which model they re-rank; fits know the recipe of that model."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0010_fits_before_candidates"),
    ]

    operations = [
        migrations.AddField(
            model_name="trainedmodel",
            name="origin",
            field=models.CharField(
                choices=[
                    ("fitted", "Fitted"),
                    ("matrix", "Matrix"),
                    ("factors", "Factors"),
                    ("lists", "Lists"),
                    ("remote", "Remote"),
                ],
                default="fitted",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="trainedmodel",
            name="base",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="reranked",
                to="evaluation.trainedmodel",
            ),
        ),
        migrations.AddField(
            model_name="trainedmodel",
            name="provenance",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AlterField(
            model_name="trainedmodel",
            name="training_digest",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="runpart",
            name="base_recipe",
            field=models.CharField(blank=True, max_length=64),
        ),
    ]
