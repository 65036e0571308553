"""Runs of several models for each algorithm."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0002_protocols_and_tasks"),
    ]

    operations = [
        migrations.AddField(
            model_name="evaluationrun",
            name="folds",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="runpart",
            name="fold",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="runpart",
            name="recipe",
            field=models.CharField(blank=True, db_index=True, max_length=64),
        ),
        migrations.AddField(
            model_name="runpart",
            name="model",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="fits",
                to="evaluation.trainedmodel",
            ),
        ),
    ]
