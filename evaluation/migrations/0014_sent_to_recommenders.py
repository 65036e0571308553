"""What recommenders behind HTTP are sent of the items."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0013_external_scores"),
    ]

    operations = [
        migrations.AddField(
            model_name="remoterecommender",
            name="sent",
            field=models.CharField(
                choices=[("ids", "nothing else"), ("titles", "the title"), ("texts", "the title and the text")],
                default="ids",
                help_text="Of each rated item, beside its id and rating.",
                max_length=6,
            ),
        ),
    ]
