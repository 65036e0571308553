"""The recipe and model of each algorithm, written to the part that fitted it."""

from django.db import migrations
from django.db.models import OuterRef, Subquery


def tell_fits(apps, schema_editor):
    """Write the recipe and model of each algorithm to the part that fitted it."""
    parts = apps.get_model("evaluation", "RunPart").objects.filter(kind="fit")
    algorithms = apps.get_model("evaluation", "RunAlgorithm").objects.filter(pk=OuterRef("algorithm"))
    parts.update(recipe=Subquery(algorithms.values("recipe")[:1]))
    parts.filter(status="done").update(model=Subquery(algorithms.values("model")[:1]))


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0003_folds"),
    ]

    operations = [
        migrations.RunPython(tell_fits, migrations.RunPython.noop),
    ]
