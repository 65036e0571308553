"""The tables of analysis in one step, for new databases; older ones go through the migrations named below."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("analysis", "0001_initial"),
        ("analysis", "0002_report_requests"),
        ("analysis", "0003_leases_and_drawings"),
        ("analysis", "0004_pilot_reports"),
        ("analysis", "0005_bayesian_analysis"),
        ("analysis", "0006_sample_reports"),
    ]

    initial = True

    dependencies = [
        ("evaluation", "0008_project"),
        ("studies", "0021_notice_of_administration"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("number", models.PositiveIntegerField()),
                (
                    "mode",
                    models.CharField(
                        choices=[("live", "Live"), ("simulated", "Simulated"), ("preview", "Preview")], max_length=12
                    ),
                ),
                ("inputs_hash", models.CharField(max_length=64)),
                ("plan", models.JSONField(default=dict)),
                ("results", models.JSONField()),
                ("provenance", models.JSONField(default=dict)),
                ("is_pilot", models.BooleanField(default=False)),
                ("is_sample", models.BooleanField(default=False)),
                (
                    "made_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reports",
                        to="evaluation.evaluationrun",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Drawing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("name", models.CharField(max_length=100)),
                ("version", models.CharField(max_length=64)),
                ("content", models.BinaryField()),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="drawings", to="analysis.report"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="BayesianAnalysis",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("error", models.TextField(blank=True)),
                ("lease", models.CharField(blank=True, max_length=64)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("hinted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("succeeded", "succeeded"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("activity", models.CharField(blank=True, max_length=200)),
                ("results", models.JSONField(blank=True, null=True)),
                (
                    "report",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="bayesian", to="analysis.report"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "Bayesian analyses",
            },
        ),
        migrations.CreateModel(
            name="ReportRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("error", models.TextField(blank=True)),
                ("lease", models.CharField(blank=True, max_length=64)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("hinted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("report", "report"), ("package", "package")], default="report", max_length=12
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        blank=True,
                        choices=[("live", "Live"), ("simulated", "Simulated"), ("preview", "Preview")],
                        max_length=12,
                    ),
                ),
                ("overrides", models.JSONField(default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("succeeded", "succeeded"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("activity", models.CharField(blank=True, max_length=200)),
                ("file", models.CharField(blank=True, max_length=200)),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="analysis.report",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="report_requests", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="report_number_once"),
        ),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(fields=("study", "inputs_hash"), name="report_inputs_once"),
        ),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_sample", False), ("mode", "simulated"), _connector="OR"),
                name="report_sample_simulated",
            ),
        ),
        migrations.AddConstraint(
            model_name="drawing",
            constraint=models.UniqueConstraint(fields=("report", "name"), name="drawing_name_once"),
        ),
    ]
