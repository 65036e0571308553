from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0003_workers"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64, unique=True)),
                ("fingerprint", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("headers", models.JSONField(default=dict)),
                ("body", models.TextField(blank=True)),
                ("ends_at", models.DateTimeField(db_index=True)),
            ],
        ),
    ]
