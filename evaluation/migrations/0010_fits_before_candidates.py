"""A fit knows its training rows, so that it can start before the candidates of the test cases are drawn."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0009_one_table_of_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="runpart",
            name="training_digest",
            field=models.CharField(blank=True, max_length=64),
        ),
    ]
