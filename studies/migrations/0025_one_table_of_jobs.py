"""Remove the former tables of jobs; their rows are in the one of all kinds."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_former_jobs"),
        ("replication", "0002_one_table_of_jobs"),
        ("studies", "0024_slots_by_progress"),
    ]

    operations = [
        migrations.DeleteModel("ExportJob"),
        migrations.DeleteModel("SimulationJob"),
    ]
