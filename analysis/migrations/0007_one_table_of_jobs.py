"""Remove the former tables of jobs; their rows are in the one of all kinds."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_former_jobs"),
        ("analysis", "0006_sample_reports"),
    ]

    operations = [
        migrations.DeleteModel("BayesianAnalysis"),
        migrations.DeleteModel("ReportRequest"),
    ]
