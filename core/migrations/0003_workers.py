from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0002_rate_counts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("host", models.CharField(max_length=200)),
                ("pid", models.PositiveBigIntegerField()),
                ("queues", models.JSONField(default=list)),
                ("code", models.CharField(max_length=64)),
                ("task", models.CharField(blank=True, max_length=200)),
                ("seen_at", models.DateTimeField(db_index=True)),
            ],
        ),
    ]
