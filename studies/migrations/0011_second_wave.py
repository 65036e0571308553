from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0010_declined_forms"),
    ]

    operations = [
        migrations.AddField(
            model_name="recruiting",
            name="excluded_studies",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="study",
            name="reopened_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
