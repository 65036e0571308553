"""The tables of evaluation in one step, for new databases; older ones go through the migrations named below."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("evaluation", "0001_initial"),
        ("evaluation", "0002_protocols_and_tasks"),
        ("evaluation", "0003_folds"),
        ("evaluation", "0004_fits_know_their_models"),
        ("evaluation", "0005_failed_algorithms"),
        ("evaluation", "0006_size_choices"),
        ("evaluation", "0007_experiment_jobs"),
        ("evaluation", "0008_project"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0006_projects"),
        ("catalog", "0006_project"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SizeChoice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("recipe", models.CharField(max_length=64, unique=True)),
                ("choice", models.JSONField()),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="EvaluationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("split", models.JSONField()),
                ("protocol", models.JSONField()),
                ("task", models.CharField(default="some", max_length=20)),
                ("metrics", models.JSONField(default=list)),
                ("comments", models.JSONField(default=list)),
                ("reserve", models.FloatField(default=0.0)),
                ("seed", models.BigIntegerField()),
                ("n", models.PositiveSmallIntegerField(default=5)),
                ("profile_lengths", models.JSONField(default=list)),
                ("threads", models.PositiveSmallIntegerField(default=1)),
                ("part_users", models.PositiveIntegerField(default=4096)),
                ("inputs_hash", models.CharField(max_length=64)),
                ("queue", models.CharField(blank=True, max_length=80)),
                ("cases_digest", models.CharField(blank=True, max_length=64)),
                ("folds", models.JSONField(default=list)),
                ("n_relevant", models.PositiveIntegerField(blank=True, null=True)),
                ("n_irrelevant", models.PositiveIntegerField(blank=True, null=True)),
                ("left_out", models.JSONField(default=dict)),
                ("counted", models.JSONField(default=dict)),
                ("activity", models.CharField(blank=True, max_length=200)),
                ("error", models.TextField(blank=True)),
                ("error_detail", models.TextField(blank=True)),
                ("environment", models.JSONField(default=dict)),
                ("hinted_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="accounts.project",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="catalog.datasetversion"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ExperimentJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("error", models.TextField(blank=True)),
                ("lease", models.CharField(blank=True, max_length=64)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("hinted_at", models.DateTimeField(blank=True, null=True)),
                ("experiment", models.CharField(max_length=80)),
                ("runs", models.JSONField(default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                        ],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("activity", models.CharField(blank=True, max_length=200)),
                ("verdicts", models.JSONField(default=list)),
                ("file", models.CharField(blank=True, max_length=200)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="experiments",
                        to="catalog.datasetversion",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="TrainedModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("recipe", models.CharField(max_length=64, unique=True)),
                ("digest", models.CharField(max_length=64)),
                ("algorithm", models.CharField(max_length=60)),
                ("algorithm_version", models.PositiveIntegerField()),
                ("params", models.JSONField(default=dict)),
                ("label", models.CharField(max_length=80)),
                ("seed", models.BigIntegerField()),
                ("threads", models.PositiveSmallIntegerField()),
                ("training_digest", models.CharField(max_length=64)),
                ("fit_seconds", models.FloatField()),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="models", to="catalog.datasetversion"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="RunAlgorithm",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                ("algorithm", models.CharField(max_length=60)),
                ("params", models.JSONField(default=dict)),
                ("label", models.CharField(max_length=80)),
                ("recipe", models.CharField(blank=True, db_index=True, max_length=64)),
                ("was_reused", models.BooleanField(default=False)),
                ("score_seconds", models.FloatField(default=0.0)),
                ("error", models.TextField(blank=True, default="")),
                ("error_detail", models.TextField(blank=True, default="")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="algorithms",
                        to="evaluation.evaluationrun",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="evaluation.trainedmodel",
                    ),
                ),
            ],
            options={
                "ordering": ["run_id", "position"],
            },
        ),
        migrations.CreateModel(
            name="MetricResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("profile_length", models.PositiveSmallIntegerField(default=0)),
                ("metric", models.CharField(max_length=80)),
                ("value", models.FloatField(null=True)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("by_n", models.JSONField(default=list)),
                ("users_digest", models.CharField(blank=True, max_length=64)),
                (
                    "algorithm",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="results",
                        to="evaluation.runalgorithm",
                    ),
                ),
            ],
            options={
                "ordering": ["algorithm_id", "profile_length", "metric"],
                "constraints": [
                    models.UniqueConstraint(fields=("algorithm", "profile_length", "metric"), name="metric_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="RunPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("error", models.TextField(blank=True)),
                ("lease", models.CharField(blank=True, max_length=64)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "kind",
                    models.CharField(
                        choices=[("prepare", "Prepare"), ("fit", "Fit"), ("measure", "Measure"), ("reduce", "Reduce")],
                        max_length=20,
                    ),
                ),
                ("fold", models.PositiveSmallIntegerField(default=0)),
                ("recipe", models.CharField(blank=True, db_index=True, max_length=64)),
                ("profile_length", models.PositiveSmallIntegerField(default=0)),
                ("start", models.PositiveIntegerField(default=0)),
                ("stop", models.PositiveIntegerField(default=0)),
                (
                    "status",
                    models.CharField(
                        choices=[("queued", "Queued"), ("leased", "Leased"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("seconds", models.FloatField(blank=True, null=True)),
                ("result_digest", models.CharField(blank=True, max_length=64)),
                (
                    "algorithm",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="evaluation.runalgorithm",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="evaluation.evaluationrun"
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="fits",
                        to="evaluation.trainedmodel",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["run", "status", "kind"], name="evaluation__run_id_15b401_idx")],
            },
        ),
        migrations.AddConstraint(
            model_name="runalgorithm",
            constraint=models.UniqueConstraint(fields=("run", "position"), name="run_algorithm_once"),
        ),
    ]
