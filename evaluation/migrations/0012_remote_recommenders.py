"""Recommenders behind HTTP, which administrators register."""

from __future__ import annotations

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0011_reranked_models"),
    ]

    operations = [
        migrations.CreateModel(
            name="RemoteRecommender",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "name",
                    models.SlugField(
                        help_text="In commands and tables; letters, digits, - and _.", max_length=60, unique=True
                    ),
                ),
                (
                    "address",
                    models.CharField(
                        help_text="Such as https://recommender.example.org; PARALLAX_RECOMMENDER_HOSTS has to list the host.",
                        max_length=300,
                    ),
                ),
                (
                    "token_variable",
                    models.CharField(
                        blank=True,
                        help_text="Environment variable of the web server and the workers that has the bearer token; empty for none.",
                        max_length=100,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^PARALLAX_RECOMMENDER_TOKEN[A-Z0-9_]*\\Z",
                                "Its name has to begin with PARALLAX_RECOMMENDER_TOKEN.",
                            )
                        ],
                    ),
                ),
                (
                    "seconds",
                    models.PositiveSmallIntegerField(
                        default=10,
                        help_text="For one answer, from 1 to 60.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(60),
                        ],
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
    ]
