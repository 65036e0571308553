from django.db import migrations, models


def keep_which_have_trailers(apps, schema_editor):
    """Say of the lists made so far what their items have: a version's items do not change."""
    slots = apps.get_model("studies", "RecommendedItem").objects.filter(has_trailer=None)
    slots.filter(item__trailer_url="").update(has_trailer=False)
    slots.update(has_trailer=True)


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0008_leased_exports"),
    ]

    operations = [
        migrations.AddField(
            model_name="recommendeditem",
            name="has_trailer",
            field=models.BooleanField(null=True),
        ),
        migrations.RunPython(keep_which_have_trailers, migrations.RunPython.noop),
    ]
