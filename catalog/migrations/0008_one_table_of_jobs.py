"""Remove the former table of jobs; its rows are in the one of all kinds."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_former_jobs"),
        ("catalog", "0007_more_item_types"),
    ]

    operations = [
        migrations.DeleteModel("DatasetJob"),
    ]
