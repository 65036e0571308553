"""The tables of catalog in one step, for new databases; older ones go through the migrations named below."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("catalog", "0001_initial"),
        ("catalog", "0002_item_type"),
        ("catalog", "0003_localised_texts"),
        ("catalog", "0004_item_samples"),
        ("catalog", "0005_dataset_jobs"),
        ("catalog", "0006_project"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0006_projects"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Dataset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("name", models.SlugField(max_length=80, unique=True)),
                ("title", models.CharField(max_length=200)),
                (
                    "item_type",
                    models.CharField(
                        choices=[
                            ("film", "Film"),
                            ("book", "Book"),
                            ("song", "Song"),
                            ("product", "Product"),
                            ("paper", "Paper"),
                            ("news", "News article"),
                            ("course", "Course"),
                            ("recipe", "Recipe"),
                            ("item", "Plain item"),
                        ],
                        default="film",
                        max_length=20,
                    ),
                ),
                ("item_language", models.CharField(blank=True, max_length=10)),
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
                        related_name="datasets",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="DatasetVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("number", models.PositiveIntegerField()),
                ("content_hash", models.CharField(max_length=64)),
                ("ratings_digest", models.CharField(max_length=64)),
                ("source_format", models.CharField(max_length=40)),
                ("is_synthetic", models.BooleanField(default=False)),
                ("n_users", models.PositiveIntegerField()),
                ("n_items", models.PositiveIntegerField()),
                ("n_ratings", models.PositiveBigIntegerField()),
                ("scale_low", models.FloatField()),
                ("scale_high", models.FloatField()),
                ("scale_step", models.FloatField()),
                ("report", models.JSONField(default=dict)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="catalog.dataset"
                    ),
                ),
            ],
            options={
                "ordering": ["dataset__name", "-number"],
            },
        ),
        migrations.CreateModel(
            name="DatasetJob",
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
                        choices=[
                            ("import", "Import"),
                            ("download", "Download"),
                            ("metadata", "Item metadata"),
                            ("subset", "Subset"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting for its columns"),
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
                ("source", models.CharField(blank=True, max_length=300)),
                ("folder", models.CharField(blank=True, max_length=40)),
                ("settings", models.JSONField(default=dict)),
                ("activity", models.CharField(blank=True, max_length=200)),
                ("done", models.PositiveBigIntegerField(blank=True, null=True)),
                ("total", models.PositiveBigIntegerField(blank=True, null=True)),
                ("problems", models.JSONField(default=list)),
                ("remedies", models.JSONField(default=list)),
                ("message", models.CharField(blank=True, max_length=300)),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "base",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.datasetversion",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="catalog.datasetversion",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("index", models.PositiveIntegerField()),
                ("external_id", models.CharField(max_length=100)),
                ("title", models.CharField(max_length=300)),
                ("sort_title", models.CharField(max_length=300)),
                ("year", models.PositiveIntegerField(blank=True, null=True)),
                ("plot", models.TextField(blank=True)),
                ("image", models.CharField(blank=True, max_length=300)),
                ("image_url", models.URLField(blank=True, max_length=500)),
                ("trailer_url", models.URLField(blank=True, max_length=500)),
                ("clip", models.CharField(blank=True, max_length=300)),
                ("excerpt", models.TextField(blank=True)),
                ("links", models.JSONField(blank=True, default=dict)),
                ("texts", models.JSONField(blank=True, default=dict)),
                ("n_ratings", models.PositiveIntegerField(default=0)),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="catalog.datasetversion"
                    ),
                ),
            ],
            options={
                "ordering": ["index"],
            },
        ),
        migrations.CreateModel(
            name="Feature",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                ("value", models.CharField(max_length=200)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="features", to="catalog.item"
                    ),
                ),
            ],
            options={
                "ordering": ["item_id", "kind", "position"],
            },
        ),
        migrations.AddConstraint(
            model_name="datasetversion",
            constraint=models.UniqueConstraint(fields=("dataset", "number"), name="version_number_once"),
        ),
        migrations.AddIndex(
            model_name="datasetjob",
            index=models.Index(fields=["requested_by", "status"], name="catalog_dat_request_5622f2_idx"),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["version", "sort_title"], name="catalog_ite_version_e7aa5d_idx"),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["version", "-n_ratings"], name="catalog_ite_version_c4689e_idx"),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["version", "year"], name="catalog_ite_version_79e6ce_idx"),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(fields=("version", "index"), name="item_index_once"),
        ),
        migrations.AddIndex(
            model_name="feature",
            index=models.Index(fields=["kind", "value"], name="catalog_fea_kind_1be798_idx"),
        ),
    ]
