import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0009_trailers_of_lists"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeclinedForm",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("declined_on", models.DateField()),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="declined_forms", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
    ]
