import secrets

from django.db import migrations, models


def draw_for_drafts(apps, schema_editor):
    """Draw a secret seed for each draft; launched studies keep the known seed that their assignments follow from."""
    for study in apps.get_model("studies", "Study").objects.filter(status="draft"):
        study.assignment_seed = secrets.token_hex(16)
        study.save(update_fields=["assignment_seed"])


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0012_entry_limits"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="assignment_seed",
            field=models.CharField(blank=True, default="", editable=False, max_length=32),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="study",
            name="earlier_seeds",
            field=models.JSONField(blank=True, default=list, editable=False),
        ),
        migrations.RunPython(draw_for_drafts, migrations.RunPython.noop),
    ]
