from django.db import migrations, models

ENTRANCES = [
    ("open", "Open link"),
    ("personal", "Personal link"),
    ("guest", "Guest list"),
    ("signed", "Signed link"),
    ("interview", "Interviewer"),
    ("panel_id", "Panel id"),
]


def without_signed_links(apps, schema_editor):
    """An older version knows no signed links: participants were invited, and nobody else enters by an id."""
    apps.get_model("studies", "Recruiting").objects.filter(entrance="signed").update(entrance="personal")
    apps.get_model("studies", "Participant").objects.filter(entrance="signed").update(entrance="guest")


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0022_remove_proof_of_work"),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, without_signed_links),
        migrations.AddField(
            model_name="recruiting",
            name="signing_key",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AlterField(
            model_name="recruiting",
            name="entrance",
            field=models.CharField(choices=ENTRANCES, default="open", max_length=12),
        ),
        migrations.AlterField(
            model_name="participant",
            name="entrance",
            field=models.CharField(choices=ENTRANCES, default="open", max_length=12),
        ),
    ]
